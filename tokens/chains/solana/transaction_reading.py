"""Reading transactions of Solana: each in two forms, which must agree, many in few requests."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from config.http.json_client import Retryable
from tokens.chains.rpc.block_ranges import RangeSize
from tokens.chains.rpc.client import Call, RpcClient
from tokens.chains.rpc.quantities import YEAR_10000, read_whole
from tokens.chains.rpc.responses import CallFailed, Refusal, refuse_failures, refuse_lacks
from tokens.chains.solana.transaction_forms import SolanaTransaction, read_forms
from tokens.chains.types import AskedTooMuch, NodeUnavailable, TransactionNotFound

FINALIZED = {"commitment": "finalized"}
# The newest version that is understood: messages with lookup tables.
_OPTIONS = {**FINALIZED, "maxSupportedTransactionVersion": 0}
_FORMS = ("json", "jsonParsed")

# What a node tells of one transaction: nothing where it does not know it, its refusal where its version is another.
_Told = SolanaTransaction | CallFailed | None


def read_ledger(
    rpc: RpcClient, signatures: Sequence[str], *, portion: RangeSize
) -> Iterator[tuple[str, SolanaTransaction | None]]:
    """Each signature with its transaction as it is in the ledger for good; None where its version is not understood.

    They are asked for in portions, which shrink where answers are too large or take too long, down to one: anybody can
    fill transactions. No more than one portion is in memory. What one node lacks, the others are asked for. Raises
    TransactionNotFound where all lack one, NodeUnavailable.
    """
    most, done = max(1, rpc.batch_size // len(_FORMS)), 0
    while part := signatures[done : done + min(most, portion.blocks)]:
        try:
            found = _read_part(rpc, part)
        except AskedTooMuch:
            if len(part) == 1:
                raise
            portion.shrink(len(part))
            continue
        portion.note_taken(len(part), logs=sum(len(entry.instructions) for entry in found.values() if entry))
        yield from found.items()
        done += len(part)


def _read_part(rpc: RpcClient, signatures: Sequence[str]) -> dict[str, SolanaTransaction | None]:
    told = rpc.ask(_calls(signatures), read=_reader(signatures), divisible=len(signatures) > 1)
    missing = [signature for signature in signatures if told[signature] is None]
    if missing:
        told |= _read_elsewhere(rpc, missing)
    known = {signature: entry for signature, entry in told.items() if isinstance(entry, SolanaTransaction)}
    known = {signature: _with_time(rpc, entry) for signature, entry in known.items()}
    return {signature: known.get(signature) for signature in signatures}


def _read_elsewhere(rpc: RpcClient, signatures: Sequence[str]) -> dict[str, _Told]:
    """What a node behind the first one may have. Raises TransactionNotFound, and AskedTooMuch for several."""
    read = _reader(signatures)

    def read_all(results: list[Any]) -> dict[str, _Told]:
        told = read(results)
        if None in told.values():
            raise Retryable("it does not know the transaction")
        return told

    try:
        return rpc.ask_once(_calls(signatures), read=read_all)
    except NodeUnavailable as error:
        if isinstance(error, AskedTooMuch) and len(signatures) > 1:
            raise
        words = f"chain {rpc.chain_id} does not know the transaction, or has not made it final"
        raise TransactionNotFound(words) from error


def _calls(signatures: Sequence[str]) -> list[Call]:
    return [
        ("getTransaction", (signature, _OPTIONS | {"encoding": form})) for signature in signatures for form in _FORMS
    ]


def _reader(signatures: Sequence[str]) -> Callable[[list[Any]], dict[str, _Told]]:
    def read(results: list[Any]) -> dict[str, _Told]:
        refuse_lacks(results)
        pairs = zip(results[::2], results[1::2], strict=True)
        return {
            signature: _read_pair(signature, raw, parsed)
            for signature, (raw, parsed) in zip(signatures, pairs, strict=True)
        }

    return read


def _read_pair(signature: str, raw: Any, parsed: Any) -> _Told:
    if isinstance(raw, CallFailed) and isinstance(parsed, CallFailed) and raw.kind is parsed.kind is Refusal.VERSION:
        return raw
    refuse_failures((raw, parsed))
    if raw is None and parsed is None:
        return None
    return read_forms(signature, raw=raw, parsed=parsed)


def _with_time(rpc: RpcClient, transaction: SolanaTransaction) -> SolanaTransaction:
    """The transaction with the time of its block. Raises NodeUnavailable where no node knows it."""
    if transaction.block_time is not None:
        return transaction

    def read(results: list[Any]) -> int:
        refuse_failures(results)
        return read_whole(results[0], below=YEAR_10000)

    return replace(transaction, block_time=rpc.ask([("getBlockTime", (transaction.slot,))], read=read))
