"""What a collection of v4 fees pays to whom, as ClankerLpLockerFeeConversion does it.

In each currency, recipients who don't swap it get their bps, rounded down. What is left goes, where anybody wants it
swapped, into one swap, and else to the last recipient. What a swap gives depends on the pool: only a simulation tells.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tokens.chains.abi import codec
from tokens.chains.evm.eth_calls import Question, simulate_logs
from tokens.chains.rpc.client import RpcClient
from tokens.chains.token_fees import Conversion, add, divide
from tokens.chains.types import LogUndecodable

_LOCKER = codec.load("v4_fees")
_COLLECT = _LOCKER.function("collectRewards")
# event ClaimedRewards(address indexed token, uint256 amount0, uint256 amount1, uint256[] rewards0, uint256[] rewards1)
_CLAIMED = _LOCKER.event("ClaimedRewards")

# The locker's enum FeeIn is Both, Paired, Clanker.
_PAIRED, _LAUNCHED = 1, 2

Amounts = tuple[int | None, int | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Slot:
    """A place among the token's recipients: who, how many bps, and in which currency (the locker's FeeIn)."""

    recipient: str
    bps: int
    wants: int


def collect(
    rpc: RpcClient,
    *,
    locker: str,
    token: str,
    currencies: tuple[str, str],
    amounts: tuple[int, int],
    slots: Sequence[Slot],
    block: int,
) -> tuple[dict[str, Amounts], Conversion]:
    """Recipient -> what a collection right after the block would pay, in the order of the pool's currencies.

    `amounts` are what the pool owes; None is what depends on a swap that no node has simulated.
    """
    swapped_away = [_PAIRED if currency == token else _LAUNCHED for currency in currencies]
    swaps = [
        amount > 0 and any(slot.wants == unwanted for slot in slots)
        for amount, unwanted in zip(amounts, swapped_away, strict=True)
    ]
    conversion: Conversion = "none"
    paid = _without_swaps(amounts, slots, swapped_away, swaps)
    if any(swaps):
        simulated = _simulate(rpc, locker=locker, token=token, count=len(slots), block=block)
        conversion = "simulated" if simulated else "unknown"
        paid = simulated or paid
    return _by_recipient(slots, paid), conversion


def _without_swaps(
    amounts: tuple[int, int], slots: Sequence[Slot], swapped_away: list[int], swaps: list[bool]
) -> list[Amounts]:
    """For each slot what it gets of each currency, unknown where a swap pays a part of that."""
    columns = []
    for place, amount in enumerate(amounts):
        # The other currency's swap pays those who don't want that one.
        unwanted, from_swap = swapped_away[place], swapped_away[1 - place] if swaps[1 - place] else None
        keepers = [index for index, slot in enumerate(slots) if slot.wants != unwanted]
        if swaps[place]:
            shares = divide(amount, [slots[index].bps for index in keepers])[:-1]
        else:
            shares = divide(amount, [slots[index].bps for index in keepers[:-1]]) if keepers else []
        kept = dict(zip(keepers, shares, strict=True))
        columns.append([None if slot.wants == from_swap else kept.get(index, 0) for index, slot in enumerate(slots)])
    return list(zip(*columns, strict=True))


def _simulate(rpc: RpcClient, *, locker: str, token: str, count: int, block: int) -> list[Amounts] | None:
    """What each slot is paid, by the event that the collection ends with.

    None also where the locker would do nothing: it waits while a launch is protected against snipers.
    """
    logs = simulate_logs(rpc, Question(contract=locker, function=_COLLECT, arguments=(token,)), block=block) or []
    try:
        for log in logs:
            if log["address"].lower() == locker.lower() and log["topics"][0] == _CLAIMED.topic0:
                claimed = _CLAIMED.decode(log)
                if claimed["token"] == token and len(claimed["rewards0"]) == len(claimed["rewards1"]) == count:
                    return list(zip(claimed["rewards0"], claimed["rewards1"], strict=True))
    except (AttributeError, IndexError, KeyError, TypeError, LogUndecodable):
        return None
    return None


def _by_recipient(slots: Sequence[Slot], paid: Sequence[Amounts]) -> dict[str, Amounts]:
    """One who has several slots gets them together."""
    found: dict[str, Amounts] = {}
    for slot, (first, second) in zip(slots, paid, strict=True):
        before = found.get(slot.recipient, (0, 0))
        found[slot.recipient] = (add([before[0], first]), add([before[1], second]))
    return found
