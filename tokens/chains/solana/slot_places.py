"""Places that transactions have in their slots. They order a slot's swaps."""

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
# A slot's signatures take some 200 kB in a response, at most 2 MiB.
_SLOTS_AT_ONCE = 8


def place_swaps(rpc: RpcClient, swaps: Sequence[Swap], known: Mapping[str, int | None]) -> list[Swap]:
    """Return swaps with a `log_index` that is unique in the slot, instead of the instruction's index.

    `known` has signature -> place, None if the node did not return it, as nodes before Agave 4.0. Missing places cost
    a call for each slot. Raises LogDecodingError, NodeUnavailableError.
    """
    places = {signature: number for signature, number in known.items() if number is not None}
    unknown: dict[int, set[str]] = {}
    for swap in swaps:
        if swap.tx_hash not in places:
            unknown.setdefault(swap.block_number, set()).add(swap.tx_hash)
    places |= _fetch_places(rpc, unknown)
    return [swap._replace(log_index=_log_index(places[swap.tx_hash], swap.log_index)) for swap in swaps]


def transaction_place(log_index: int) -> int:
    """Return a transaction's place in its slot, from the `log_index` of one of its swaps."""
    return log_index >> _INSTRUCTION_BITS


def _log_index(tx_index: int, instruction: int) -> int:
    if tx_index >= _MOST_PLACES or instruction >= _MOST_INSTRUCTIONS:
        raise LogDecodingError(f"no number for instruction {instruction} of transaction {tx_index} in its slot")
    return tx_index << _INSTRUCTION_BITS | instruction


def _fetch_places(rpc: RpcClient, wanted: Mapping[int, Collection[str]]) -> dict[str, int]:
    """Return signature -> place for the wanted signatures, which are keyed by slot.

    Fetches fewer slots at once if responses are too large. Raises NodeUnavailableError.
    """
    places: dict[str, int] = {}
    slots, size = sorted(wanted), min(_SLOTS_AT_ONCE, rpc.batch_size)
    while slots:
        batch = {slot: wanted[slot] for slot in slots[:size]}
        calls = [("getBlock", (slot, _BLOCK_OPTIONS)) for slot in batch]
        try:
            places |= rpc.query(calls, parse=_reader(batch), policy=QueryPolicy(splittable=len(batch) > 1))
        except RequestTooLargeError:
            if len(batch) == 1:
                raise
            size = len(batch) // 2
            continue
        del slots[:size]
    return places


def _reader(wanted: Mapping[int, Collection[str]]) -> Callable[[list[Any]], dict[str, int]]:
    def parse(results: list[Any]) -> dict[str, int]:
        require_method_offered(results)
        require_results(results)
        places = {}
        for (slot, signatures), result in zip(wanted.items(), results, strict=True):
            block = parse_list(parse_object(result, of="a block").get("signatures"), of="the signatures of a block")
            for signature in signatures:
                if block.count(signature) != 1:
                    raise RetryableError(f"the block of slot {slot} lacks a transaction of that slot")
                places[signature] = block.index(signature)
        return places

    return parse
