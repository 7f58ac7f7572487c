"""Batched fetches of Solana transactions, each in two encodings, which must agree."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from config.http.errors import RetryableError
from tokens.chains.errors import NodeUnavailableError, RequestTooLargeError, TransactionNotFoundError
from tokens.chains.rpc.block_ranges import RangeSize
from tokens.chains.rpc.client import ONE_ROUND, QueryPolicy, RpcClient
from tokens.chains.rpc.quantities import parse_integer, validate_block_time
from tokens.chains.rpc.responses import Call, CallFailure, RejectionKind, require_method_offered, require_results
from tokens.chains.solana.transaction_forms import SolanaTransaction, parse_transaction

FINALIZED = {"commitment": "finalized"}
# The newest supported version: messages with lookup tables.
_OPTIONS = {**FINALIZED, "maxSupportedTransactionVersion": 0}
_FORMS = ("json", "jsonParsed")

# A node's result for one transaction: None if it lacks it, its error if the version is unsupported.
_NodeResult = SolanaTransaction | CallFailure | None


def fetch_transactions(
    rpc: RpcClient, signatures: Sequence[str], *, range_size: RangeSize
) -> Iterator[tuple[str, SolanaTransaction | None]]:
    """Fetch finalised transactions; return each signature with its transaction, None if its version is unsupported.

    Transactions are fetched in batches. These shrink, down to one, if responses are too large or too slow: senders
    decide on a transaction's size. At most one batch is in memory. Transactions that one node lacks are fetched from
    the others. Raises TransactionNotFoundError if all nodes lack one, NodeUnavailableError.
    """
    max_count, start = max(1, rpc.batch_size // len(_FORMS)), 0
    while batch := signatures[start : start + min(max_count, range_size.blocks)]:
        try:
            fetched = _read_batch(rpc, batch)
        except RequestTooLargeError:
            if len(batch) == 1:
                raise
            range_size.shrink(len(batch))
            continue
        range_size.record_range(len(batch), logs=sum(len(entry.instructions) for entry in fetched.values() if entry))
        yield from fetched.items()
        start += len(batch)


def _read_batch(rpc: RpcClient, signatures: Sequence[str]) -> dict[str, SolanaTransaction | None]:
    entries = rpc.query(
        _calls(signatures), parse=_reader(signatures), policy=QueryPolicy(splittable=len(signatures) > 1)
    )
    missing = [signature for signature in signatures if entries[signature] is None]
    if missing:
        entries |= _read_from_others(rpc, missing)
    transactions = {signature: entry for signature, entry in entries.items() if isinstance(entry, SolanaTransaction)}
    transactions = {signature: _with_time(rpc, entry) for signature, entry in transactions.items()}
    return {signature: transactions.get(signature) for signature in signatures}


def _read_from_others(rpc: RpcClient, signatures: Sequence[str]) -> dict[str, _NodeResult]:
    """Fetch from the nodes after the first. Raises TransactionNotFoundError, and RequestTooLargeError for several."""
    parse = _reader(signatures)

    def read_all(results: list[Any]) -> dict[str, _NodeResult]:
        entries = parse(results)
        if None in entries.values():
            raise RetryableError("the node does not have the transaction")
        return entries

    try:
        return rpc.query(_calls(signatures), parse=read_all, policy=ONE_ROUND)
    except NodeUnavailableError as error:
        if isinstance(error, RequestTooLargeError) and len(signatures) > 1:
            raise
        message = f"chain {rpc.chain_id} does not have the transaction, or has not finalised it"
        raise TransactionNotFoundError(message) from error


def _calls(signatures: Sequence[str]) -> list[Call]:
    return [
        ("getTransaction", (signature, _OPTIONS | {"encoding": form})) for signature in signatures for form in _FORMS
    ]


def _reader(signatures: Sequence[str]) -> Callable[[list[Any]], dict[str, _NodeResult]]:
    def parse(results: list[Any]) -> dict[str, _NodeResult]:
        require_method_offered(results)
        pairs = zip(results[::2], results[1::2], strict=True)
        return {
            signature: _read_pair(signature, raw, parsed)
            for signature, (raw, parsed) in zip(signatures, pairs, strict=True)
        }

    return parse


def _read_pair(signature: str, raw: Any, parsed: Any) -> _NodeResult:
    if (
        isinstance(raw, CallFailure)
        and isinstance(parsed, CallFailure)
        and raw.kind is parsed.kind is RejectionKind.VERSION
    ):
        return raw
    require_results((raw, parsed))
    if raw is None and parsed is None:
        return None
    return parse_transaction(signature, raw=raw, parsed=parsed)


def _with_time(rpc: RpcClient, transaction: SolanaTransaction) -> SolanaTransaction:
    """Return the transaction with its block's time. Raises NodeUnavailableError if no node has it."""
    if transaction.block_time is not None:
        return transaction

    def parse(results: list[Any]) -> int:
        require_results(results)
        return validate_block_time(parse_integer(results[0]), block=transaction.slot)

    return replace(transaction, block_time=rpc.query([("getBlockTime", (transaction.slot,))], parse=parse))
