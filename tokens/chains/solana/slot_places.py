"""Places of transactions in their slots, which order the swaps of a slot."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from config.http.errors import RetryableError
from tokens.chains.errors import LogDecodingError, RequestTooLargeError
from tokens.chains.pool_types import LOG_INDEX_LIMIT, Swap
from tokens.chains.rpc.client import QueryPolicy, RpcClient
from tokens.chains.rpc.quantities import parse_list, parse_object
from tokens.chains.rpc.responses import require_method_offered, require_results
from tokens.chains.solana.transaction_reading import FINALIZED

# A transaction executes 64 instructions at most.
_INSTRUCTION_BITS = 7
_MOST_INSTRUCTIONS = 1 << _INSTRUCTION_BITS
# 8,192: a slot has some thousand transactions.
_MOST_PLACES = LOG_INDEX_LIMIT >> _INSTRUCTION_BITS
_BLOCK_OPTIONS = {
    **FINALIZED,
    "transactionDetails": "signatures",
    "rewards": False,
    "maxSupportedTransactionVersion": 0,
}
# A slot's signatures take some 200 kB, at most 2 MiB of a response.
_SLOTS_AT_ONCE = 8


def place_swaps(rpc: RpcClient, swaps: Sequence[Swap], known: Mapping[str, int | None]) -> list[Swap]:
    """Return swaps with a `log_index` that is unique in the slot, instead of the index of the instruction.

    `known` are the places that nodes returned with transactions; the others cost a call for each slot, as nodes before
    Agave 4.0 do. Raises LogDecodingError, NodeUnavailableError.
    """
    places = {signature: place for signature, place in known.items() if place is not None}
    unknown: dict[int, set[str]] = {}
    for swap in swaps:
        if swap.tx_hash not in places:
            unknown.setdefault(swap.block_number, set()).add(swap.tx_hash)
    places |= _fetch_places(rpc, unknown)
    return [swap._replace(log_index=_log_index(places[swap.tx_hash], swap.log_index)) for swap in swaps]


def transaction_place(log_index: int) -> int:
    """Return the place of a transaction in its slot, from the `log_index` of one of its swaps."""
    return log_index >> _INSTRUCTION_BITS


def _log_index(place: int, instruction: int) -> int:
    if place >= _MOST_PLACES or instruction >= _MOST_INSTRUCTIONS:
        raise LogDecodingError(f"no number for instruction {instruction} of transaction {place} in its slot")
    return place << _INSTRUCTION_BITS | instruction


def _fetch_places(rpc: RpcClient, wanted: Mapping[int, Collection[str]]) -> dict[str, int]:
    """Fetch the signatures of slots, fewer at once where responses are too large; return the places of the wanted ones.

    Raises NodeUnavailableError.
    """
    found: dict[str, int] = {}
    slots, size = sorted(wanted), min(_SLOTS_AT_ONCE, rpc.batch_size)
    while slots:
        part = {slot: wanted[slot] for slot in slots[:size]}
        calls = [("getBlock", (slot, _BLOCK_OPTIONS)) for slot in part]
        try:
            found |= rpc.query(calls, parse=_reader(part), policy=QueryPolicy(splittable=len(part) > 1))
        except RequestTooLargeError:
            if len(part) == 1:
                raise
            size = len(part) // 2
            continue
        del slots[:size]
    return found


def _reader(wanted: Mapping[int, Collection[str]]) -> Callable[[list[Any]], dict[str, int]]:
    def parse(results: list[Any]) -> dict[str, int]:
        require_method_offered(results)
        require_results(results)
        found = {}
        for (slot, signatures), result in zip(wanted.items(), results, strict=True):
            block = parse_list(parse_object(result, of="a block").get("signatures"), of="the signatures of a block")
            for signature in signatures:
                if block.count(signature) != 1:
                    raise RetryableError(f"the block of slot {slot} lacks a transaction of that slot")
                found[signature] = block.index(signature)
        return found

    return parse
