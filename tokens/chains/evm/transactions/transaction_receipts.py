"""Reading transactions in full: each with its receipt and its block, many in few requests."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokens.chains.evm.generations.launch_completion import complete
from tokens.chains.evm.generations.transaction_decoding import decode_transaction
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import Call, RpcClient
from tokens.chains.types import LaunchNotFound, LogUndecodable, NodeUnavailable, TransactionFacts, TransactionNotFound

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Mined:
    """Three JSON-RPC objects that tell of one transaction in one block."""

    transaction: dict[str, Any]
    receipt: dict[str, Any]
    block: dict[str, Any]

    def decode(self, chain: ChainInfo) -> TransactionFacts:
        return decode_transaction(chain, transaction=self.transaction, receipt=self.receipt, block=self.block)


def read_transaction(rpc: RpcClient, chain: ChainInfo, tx_hash: str) -> TransactionFacts:
    """As `Chain.read_transaction`."""
    (mined,) = _read_mined(rpc, chain, [tx_hash])
    (facts,) = complete(rpc, [mined.decode(chain)])
    return facts


def read_transactions(rpc: RpcClient, chain: ChainInfo, tx_hashes: Sequence[str]) -> list[TransactionFacts]:
    """As `Chain.read_transactions`."""
    read = []
    for mined in _read_mined(rpc, chain, list(dict.fromkeys(tx_hashes))):
        try:
            read.append(mined.decode(chain))
        except LaunchNotFound:
            continue
        except LogUndecodable as error:
            # The others must not be lost for it, and it says the same each time that it is read.
            tx_hash = mined.receipt["transactionHash"]
            logger.error("chain %s: transaction %s is left out: %s", chain.chain_id, tx_hash, error)
    return complete(rpc, read)


def _read_mined(rpc: RpcClient, chain: ChainInfo, tx_hashes: Sequence[str]) -> list[_Mined]:
    """Transactions with their receipts and blocks, of which each three must tell of one and the same block.

    No single answer is trusted: behind one URL there may be several nodes, on different forks or lagging.
    """
    calls: list[Call] = []
    for tx_hash in tx_hashes:
        calls += [("eth_getTransactionByHash", (tx_hash,)), ("eth_getTransactionReceipt", (tx_hash,))]
    answers = _objects(rpc, chain, calls)
    transactions, receipts = answers[::2], answers[1::2]
    for transaction, receipt in zip(transactions, receipts, strict=True):
        if receipt is None or transaction is None or transaction.get("blockHash") is None:
            raise TransactionNotFound(f"chain {chain.chain_id} does not know the transaction, or has not mined it")
    blocks = _read_blocks(rpc, chain, [receipt.get("blockNumber") for receipt in receipts])
    mined = []
    for tx_hash, transaction, receipt in zip(tx_hashes, transactions, receipts, strict=True):
        block = blocks[receipt["blockNumber"]]
        try:
            agreed = _agree(tx_hash, transaction, receipt, block)
        except (AttributeError, KeyError, TypeError) as error:
            raise NodeUnavailable(f"chain {chain.chain_id}: half an answer ({error!r:.100})") from error
        if not agreed:
            raise NodeUnavailable(f"chain {chain.chain_id}: transaction, receipt and block don't agree")
        mined.append(_Mined(transaction=transaction, receipt=receipt, block=block))
    return mined


def _read_blocks(rpc: RpcClient, chain: ChainInfo, numbers: Sequence[Any]) -> dict[str, Any]:
    """Blocks by number, both as JSON-RPC tells them; each is asked for once."""
    if not all(isinstance(number, str) for number in numbers):
        raise NodeUnavailable(f"chain {chain.chain_id}: half an answer (a receipt without a block)")
    distinct = list(dict.fromkeys(numbers))
    blocks = _objects(rpc, chain, [("eth_getBlockByNumber", (number, False)) for number in distinct])
    return dict(zip(distinct, blocks, strict=True))


def _objects(rpc: RpcClient, chain: ChainInfo, calls: Sequence[Call]) -> list[Any]:
    answers = rpc.require(calls)
    for answer in answers:
        if answer is not None and not isinstance(answer, dict):
            raise NodeUnavailable(f"chain {chain.chain_id} answered with something that is no object")
    return answers


def _agree(tx_hash: str, transaction: dict[str, Any], receipt: dict[str, Any], block: dict[str, Any] | None) -> bool:
    """Whether all three tell of this transaction in the same block."""
    if block is None:
        return False
    hashes = {transaction["hash"], receipt["transactionHash"], *(log["transactionHash"] for log in receipt["logs"])}
    blocks = {transaction["blockHash"], receipt["blockHash"], block["hash"]}
    blocks |= {log["blockHash"] for log in receipt["logs"]}
    numbers = {transaction["blockNumber"], receipt["blockNumber"], block["number"]}
    return hashes == {tx_hash} and len(blocks) == 1 and len(numbers) == 1 and tx_hash in block["transactions"]
