"""Transactions read in full: each with its receipt and its block, many in few requests."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokens.chains.errors import LaunchNotFoundError, LogDecodingError, NodeUnavailableError, TransactionNotFoundError
from tokens.chains.evm.generations.launch_completion import complete_launches
from tokens.chains.evm.generations.transaction_decoding import decode_transaction
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.responses import Call, accept_results
from tokens.chains.types import TransactionFacts

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Mined:
    """Transaction, receipt and block of one mined transaction, as JSON-RPC objects."""

    transaction: dict[str, Any]
    receipt: dict[str, Any]
    block: dict[str, Any]

    def decode(self, chain: ChainInfo) -> TransactionFacts:
        return decode_transaction(chain, transaction=self.transaction, receipt=self.receipt, block=self.block)


def read_transaction(rpc: RpcClient, chain: ChainInfo, tx_hash: str) -> TransactionFacts:
    """Implement `Chain.read_transaction`."""
    (mined,) = _read_mined(rpc, chain, [tx_hash])
    (facts,) = complete_launches(rpc, [mined.decode(chain)])
    return facts


def read_transactions(rpc: RpcClient, chain: ChainInfo, tx_hashes: Sequence[str]) -> list[TransactionFacts]:
    """Read several transactions; those without a launch or event of interest, and undecodable ones, are skipped."""
    read = []
    for mined in _read_mined(rpc, chain, list(dict.fromkeys(tx_hashes))):
        try:
            read.append(mined.decode(chain))
        except LaunchNotFoundError:
            continue
        except LogDecodingError as error:
            # The others must not be lost with it, and a retry would fail the same way.
            tx_hash = mined.receipt["transactionHash"]
            logger.error("chain %s: transaction %s is left out: %s", chain.chain_id, tx_hash, error)
    return complete_launches(rpc, read)


def _read_mined(rpc: RpcClient, chain: ChainInfo, tx_hashes: Sequence[str]) -> list[_Mined]:
    """Read transactions with receipts and blocks, and verify that each three agree on the block.

    No single response is trusted: one URL may serve several nodes, on different forks or lagging.
    """
    calls: list[Call] = []
    for tx_hash in tx_hashes:
        calls += [("eth_getTransactionByHash", (tx_hash,)), ("eth_getTransactionReceipt", (tx_hash,))]
    results = _objects(rpc, chain, calls)
    transactions, receipts = results[::2], results[1::2]
    for transaction, receipt in zip(transactions, receipts, strict=True):
        if receipt is None or transaction is None or transaction.get("blockHash") is None:
            raise TransactionNotFoundError(f"chain {chain.chain_id} has no such transaction, or has not mined it")
    blocks = _read_blocks(rpc, chain, [receipt.get("blockNumber") for receipt in receipts])
    mined = []
    for tx_hash, transaction, receipt in zip(tx_hashes, transactions, receipts, strict=True):
        block = blocks[receipt["blockNumber"]]
        try:
            agreed = _agree(tx_hash, transaction, receipt, block)
        except (AttributeError, KeyError, TypeError) as error:
            raise NodeUnavailableError(f"chain {chain.chain_id}: an incomplete response ({error!r:.100})") from error
        if not agreed:
            raise NodeUnavailableError(f"chain {chain.chain_id}: transaction, receipt and block don't agree")
        mined.append(_Mined(transaction=transaction, receipt=receipt, block=block))
    return mined


def _read_blocks(rpc: RpcClient, chain: ChainInfo, numbers: Sequence[Any]) -> dict[str, Any]:
    """Return blocks by number, both as JSON-RPC values; each is requested once."""
    if not all(isinstance(number, str) for number in numbers):
        raise NodeUnavailableError(f"chain {chain.chain_id}: an incomplete response (a receipt without a block)")
    distinct = list(dict.fromkeys(numbers))
    blocks = _objects(rpc, chain, [("eth_getBlockByNumber", (number, False)) for number in distinct])
    return dict(zip(distinct, blocks, strict=True))


def _objects(rpc: RpcClient, chain: ChainInfo, calls: Sequence[Call]) -> list[Any]:
    results = rpc.batch(calls, parse=accept_results)
    for answer in results:
        if answer is not None and not isinstance(answer, dict):
            raise NodeUnavailableError(f"chain {chain.chain_id} returned something that is no object")
    return results


def _agree(tx_hash: str, transaction: dict[str, Any], receipt: dict[str, Any], block: dict[str, Any] | None) -> bool:
    """Return whether all three describe this transaction in the same block."""
    if block is None:
        return False
    hashes = {transaction["hash"], receipt["transactionHash"], *(log["transactionHash"] for log in receipt["logs"])}
    blocks = {transaction["blockHash"], receipt["blockHash"], block["hash"]}
    blocks |= {log["blockHash"] for log in receipt["logs"]}
    numbers = {transaction["blockNumber"], receipt["blockNumber"], block["number"]}
    return hashes == {tx_hash} and len(blocks) == 1 and len(numbers) == 1 and tx_hash in block["transactions"]
