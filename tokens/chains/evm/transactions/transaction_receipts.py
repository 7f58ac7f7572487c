"""Reader for full transactions: each with its receipt and its block, many in few requests."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from config.http.errors import RetryableError
from tokens.chains.errors import (
    InconsistentResponseError,
    LaunchNotFoundError,
    TransactionNotFoundError,
)
from tokens.chains.evm.generations.launch_completion import complete_launches
from tokens.chains.evm.generations.mined_transactions import MinedTransaction, read_mined
from tokens.chains.evm.generations.token_states import read_states
from tokens.chains.evm.generations.transaction_decoding import decode_mined
from tokens.chains.evm.headers import read_header
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import (
    INDEX_LIMIT,
    parse_block_number,
    parse_object,
    parse_quantity,
    validate_block_time,
)
from tokens.chains.rpc.responses import Call, accept_results
from tokens.chains.types import StateAtBlock, TransactionFacts

logger = logging.getLogger(__name__)

# Call parameter for the newest block.
_NEWEST = "latest"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Mined:
    """One mined transaction with its block as a JSON-RPC object.

    `newest` is the newest block of the same response, if it was requested.
    """

    transaction: MinedTransaction
    block: dict[str, Any]
    newest: dict[str, Any] | None


def read_transaction(rpc: RpcClient, chain: ChainInfo, tx_hash: str, *, with_state: bool = False) -> TransactionFacts:
    """Read one transaction; `with_state` adds the launched tokens' current state."""
    (mined,) = _read_in_full(rpc, chain, [tx_hash], with_newest=with_state)
    (facts,) = complete_launches(rpc, chain, [decode_mined(mined.transaction)])
    if facts.is_empty:
        raise LaunchNotFoundError(
            "the transaction holds no launch that meets its launchpad's conditions, with a token of at most 77 decimals"
        )
    return replace(facts, state=_read_state(rpc, chain, mined, facts)) if facts.launches and with_state else facts


def read_undecoded(rpc: RpcClient, chain: ChainInfo, tx_hash: str) -> MinedTransaction:
    """Return one transaction with all its logs. Raises TransactionNotFoundError, NodeUnavailableError."""
    (mined,) = _read_in_full(rpc, chain, [tx_hash])
    return mined.transaction


def read_in_blocks(
    rpc: RpcClient, chain: ChainInfo, numbers: Mapping[str, int], *, times: Mapping[str, int]
) -> list[MinedTransaction]:
    """Return transactions with all their logs, in order; `numbers` are their block numbers by transaction hash.

    One request, unless it has more calls than a batch may have; another one after a reorg. `times` are Unix seconds by
    block hash, which replace the node's times. Raises TransactionNotFoundError, NodeUnavailableError.
    """
    blocks = [hex(number) for number in numbers.values()]
    return [mined.transaction for mined in _read_in_full(rpc, chain, list(numbers), blocks=blocks, times=times)]


def _read_state(rpc: RpcClient, chain: ChainInfo, mined: _Mined, facts: TransactionFacts) -> StateAtBlock | None:
    """Return the launched tokens' state as of the newest block; None, with a log line, if it can't be read.

    One retry after a failure: behind one URL may be a node that has not reached the block.
    """
    reason: RetryableError | None = None
    for _ in range(2):
        try:
            blocks = (read_header(mined.block), read_header(mined.newest))
            # The node that returned the newest block may be behind, or on another fork at the same height.
            header = max(blocks, key=lambda block: block.number)
            return read_states(rpc, chain, facts.launches, header=header)
        except RetryableError as error:
            reason = error
    logger.warning("chain %s: no current state of the tokens of %s: %s", chain.chain_id, facts.tx_hash, reason)
    return None


def _read_in_full(
    rpc: RpcClient,
    chain: ChainInfo,
    tx_hashes: Sequence[str],
    *,
    blocks: Sequence[str] = (),
    with_newest: bool = False,
    times: Mapping[str, int] = MappingProxyType({}),
) -> list[_Mined]:
    """Read transactions with receipts and blocks, and verify that all three agree on the block.

    No single response is trusted: one URL may serve several nodes, on different forks or lagging, and a node may have
    pruned data that another node has. `blocks` are hex numbers of blocks that are known to have the transactions.
    """
    read = partial(_read_agreeing, chain=chain, tx_hashes=tx_hashes, hint=blocks, with_newest=with_newest, times=times)
    return rpc.read_consistently(read, after=(TransactionNotFoundError, InconsistentResponseError))


def _read_agreeing(
    rpc: RpcClient,
    *,
    chain: ChainInfo,
    tx_hashes: Sequence[str],
    hint: Sequence[str],
    with_newest: bool,
    times: Mapping[str, int],
) -> list[_Mined]:
    calls: list[Call] = []
    for tx_hash in tx_hashes:
        calls += [("eth_getTransactionByHash", (tx_hash,)), ("eth_getTransactionReceipt", (tx_hash,))]
    distinct = list(dict.fromkeys(hint))
    results = rpc.batch([*calls, *map(_block_call, distinct)], parse=_accept_possible)
    blocks = dict(zip(distinct, results[len(calls) :], strict=True))
    transactions, receipts = results[: len(calls) : 2], results[1 : len(calls) : 2]
    for transaction, receipt in zip(transactions, receipts, strict=True):
        if receipt is None or transaction is None or transaction.get("blockHash") is None:
            raise TransactionNotFoundError(f"chain {chain.chain_id} has no such transaction, or has not mined it")
    numbers = [receipt.get("blockNumber") for receipt in receipts]
    blocks |= _read_blocks(rpc, chain, [*numbers, _NEWEST] if with_newest else numbers, read=blocks)
    mined = []
    for tx_hash, transaction, receipt in zip(tx_hashes, transactions, receipts, strict=True):
        block = blocks[receipt["blockNumber"]]
        try:
            is_consistent = _agree(tx_hash, transaction, receipt, block)
        except (AttributeError, KeyError, TypeError) as error:
            raise InconsistentResponseError(
                f"chain {chain.chain_id}: an incomplete response ({error!r:.100})"
            ) from error
        if not is_consistent:
            raise InconsistentResponseError(f"chain {chain.chain_id}: transaction, receipt and block don't agree")
        if block["hash"] in times:
            block = block | {"timestamp": hex(times[block["hash"]])}
        parsed = read_mined(chain, transaction=transaction, receipt=receipt, block=block)
        mined.append(_Mined(transaction=parsed, block=block, newest=blocks.get(_NEWEST)))
    return mined


def _block_call(number: str) -> Call:
    return "eth_getBlockByNumber", (number, False)


def _read_blocks(rpc: RpcClient, chain: ChainInfo, numbers: Sequence[Any], *, read: Collection[str]) -> dict[str, Any]:
    """Return number -> block, both as JSON-RPC values, without those already `read`; request each block once."""
    if not all(isinstance(number, str) for number in numbers):
        raise InconsistentResponseError(f"chain {chain.chain_id}: an incomplete response (a receipt without a block)")
    distinct = [number for number in dict.fromkeys(numbers) if number not in read]
    blocks = rpc.batch(list(map(_block_call, distinct)), parse=_accept_possible)
    return dict(zip(distinct, blocks, strict=True))


def _accept_possible(results: list[Any]) -> list[Any]:
    """Return the results, each an object or None. Raises RetryableError for numbers and times that no chain has."""
    for answer in accept_results(results):
        if answer is not None:
            _validate_numbers(parse_object(answer, of="a transaction, receipt or block"))
            logs = answer.get("logs")
            for log in logs if isinstance(logs, list) else ():
                _validate_numbers(log if isinstance(log, dict) else {})
    return results


def _validate_numbers(answer: dict[str, Any]) -> None:
    """Raise MalformedResponseError for a number or time that no block has. Decoders handle missing ones."""
    number = answer.get("number") or answer.get("blockNumber")
    if number is not None:
        block = parse_block_number(number)
        if answer.get("timestamp") is not None:
            validate_block_time(parse_quantity(answer["timestamp"]), block=block)
    for name in ("transactionIndex", "logIndex"):
        if answer.get(name) is not None:
            parse_quantity(answer[name], below=INDEX_LIMIT)


def _agree(tx_hash: str, transaction: dict[str, Any], receipt: dict[str, Any], block: dict[str, Any] | None) -> bool:
    """Return whether all three describe this transaction in the same block."""
    if block is None:
        return False
    hashes = {transaction["hash"], receipt["transactionHash"], *(log["transactionHash"] for log in receipt["logs"])}
    blocks = {transaction["blockHash"], receipt["blockHash"], block["hash"]}
    blocks |= {log["blockHash"] for log in receipt["logs"]}
    numbers = {transaction["blockNumber"], receipt["blockNumber"], block["number"]}
    return hashes == {tx_hash} and len(blocks) == 1 and len(numbers) == 1 and tx_hash in block["transactions"]
