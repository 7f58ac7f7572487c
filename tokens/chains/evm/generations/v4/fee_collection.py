"""Payouts of a v4 fee collection by recipient, as ClankerLpLockerFeeConversion computes them.

In each currency, recipients that don't swap it get their bps, rounded down. The rest goes into one swap if any
recipient has it swapped, and else to the last recipient. The swap's result depends on the pool and needs a simulation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.eth_calls import ViewCall, simulate_logs, would_revert
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import MalformedResponseError, parse_data, parse_hash, parse_list, parse_log_address
from tokens.chains.token_fees import Conversion, split_by_bps, sum_known

_LOCKER = codec.load_abi("v4_fees")
_COLLECT = _LOCKER.function("collectRewards")
# event ClaimedRewards(address indexed token, uint256 amount0, uint256 amount1, uint256[] rewards0, uint256[] rewards1)
_CLAIMED = _LOCKER.event("ClaimedRewards")

# The locker's enum FeeIn is Both, Paired, Clanker.
_PAIRED, _LAUNCHED = 1, 2

Amounts = tuple[int | None, int | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class RecipientSlot:
    """A recipient's entry in the locker: address, bps, and preferred currency (the locker's FeeIn)."""

    recipient: str
    bps: int
    preference: int


def estimate_payouts(
    rpc: RpcClient,
    *,
    locker: str,
    token: str,
    currencies: tuple[str, str],
    amounts: tuple[int, int],
    slots: Sequence[RecipientSlot],
    block: int,
) -> tuple[dict[str, Amounts], Conversion]:
    """Return recipient -> payout by a collection right after the block, in pool currency order.

    The pool owes `amounts`. A payout of None depends on a swap that no node has simulated. A collection that would
    revert pays nothing. Raises NodeUnavailableError.
    """
    collection = ViewCall(contract=locker, function=_COLLECT, arguments=(token,))
    if any(amounts) and would_revert(rpc, collection, block=block):
        amounts = (0, 0)
    swapped_away = [_PAIRED if currency == token else _LAUNCHED for currency in currencies]
    swaps = [
        amount > 0 and any(slot.preference == rejected for slot in slots)
        for amount, rejected in zip(amounts, swapped_away, strict=True)
    ]
    conversion: Conversion = "none"
    paid = _without_swaps(amounts, slots, swapped_away, swaps)
    if any(swaps):
        simulated = _simulate(rpc, collection, token=token, count=len(slots), block=block)
        conversion = "simulated" if simulated else "unknown"
        paid = simulated or paid
    return _by_recipient(slots, paid), conversion


def _without_swaps(
    amounts: tuple[int, int], slots: Sequence[RecipientSlot], swapped_away: list[int], swaps: list[bool]
) -> list[Amounts]:
    """Return each slot's amount in each currency, None if a swap pays part of it."""
    columns = []
    for side, amount in enumerate(amounts):
        # Swapping the other currency pays the slots that reject that currency.
        rejected, from_swap = swapped_away[side], swapped_away[1 - side] if swaps[1 - side] else None
        keepers = [index for index, slot in enumerate(slots) if slot.preference != rejected]
        if swaps[side]:
            shares = split_by_bps(amount, [slots[index].bps for index in keepers])[:-1]
        else:
            shares = split_by_bps(amount, [slots[index].bps for index in keepers[:-1]]) if keepers else []
        share_by_slot = dict(zip(keepers, shares, strict=True))
        columns.append(
            [None if slot.preference == from_swap else share_by_slot.get(index, 0) for index, slot in enumerate(slots)]
        )
    return list(zip(*columns, strict=True))


def _simulate(rpc: RpcClient, collection: ViewCall, *, token: str, count: int, block: int) -> list[Amounts] | None:
    """Simulate the collection and return each slot's payout, from the locker's ClaimedRewards event.

    None also if the collection does nothing, which is the case while a launch is protected against snipers.
    """

    def parse(logs: list[dict[str, object]]) -> list[Amounts] | None:
        for log in logs:
            topics = parse_list(log.get("topics"), of="topics")
            emitter = parse_log_address(log.get("address"))
            if emitter.lower() == collection.contract.lower() and topics[:1] == [_CLAIMED.topic0]:
                claimed = _decode_claimed({"topics": topics, "data": log.get("data")})
                if claimed["token"] == token and len(claimed["rewards0"]) == len(claimed["rewards1"]) == count:
                    return list(zip(claimed["rewards0"], claimed["rewards1"], strict=True))
        return None

    return simulate_logs(rpc, collection, block=block, parse=parse)


def _decode_claimed(log: dict[str, Any]) -> dict[str, Any]:
    """Decode the locker's event. Raises MalformedResponseError: the locker emits no other form."""
    for topic in log["topics"]:
        parse_hash(topic)
    parse_data(log["data"])
    try:
        return _CLAIMED.decode(log)
    except LogDecodingError as error:
        raise MalformedResponseError(str(error)) from error


def _by_recipient(slots: Sequence[RecipientSlot], paid: Sequence[Amounts]) -> dict[str, Amounts]:
    """Sum up the payouts by recipient, which may have several slots."""
    payouts: dict[str, Amounts] = {}
    for slot, (first, second) in zip(slots, paid, strict=True):
        before = payouts.get(slot.recipient, (0, 0))
        payouts[slot.recipient] = (sum_known([before[0], first]), sum_known([before[1], second]))
    return payouts
