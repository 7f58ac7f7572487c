"""Blocks on a Base-like chain and on Solana around a launch, in which each purchase has a known actor.

Places in a block follow from arrivals and fees, as public documentation describes them:

- Base: 2 s blocks, built in ten 200 ms parts. Each part is sorted by priority fee and is fixed once built
  (docs.base.org, "Block building"). There are no atomic bundles; wallets with one fee follow one another.
- Solana: 400 ms slots. A Jito bundle is at most five transactions, atomic and in its own sequence.

Log counts for purchases and launches are from Base's recorded receipts (`tests/data`). Those for other traffic are
the author's estimate: a third of these transactions has none, and one in a hundred has 60 to 150.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Logs in one swap's transaction, and its swap's index: Base's recorded receipts.
V3_SHAPES = ((3, 2),)
V4_SHAPES = ((10, 7), (11, 8), (13, 9), (14, 11), (14, 10))
# Launches without a purchase. The launch's own log is the last; a purchase's swap is 7 before it, in a v3 pool 1.
LAUNCH_LOGS = (17, 17, 17, 20, 21)
LOGS_AFTER_V4_SWAP = 7
LOGS_AFTER_V3_SWAP = 1
# Instructions in a Solana transaction that may have their own index.
SOLANA_PLACE = 128

# Probability, fewest and most logs in another sender's transaction.
_TRAFFIC_LOGS = ((0.35, 0, 0), (0.22, 1, 1), (0.08, 2, 2), (0.15, 3, 8), (0.14, 9, 20), (0.05, 21, 59), (0.01, 60, 150))
_DEFAULT_FEE = 0.001


@dataclass(frozen=True)
class Chain:
    """A chain's block times, in ms, and the mean number of others' transactions in a block part."""

    name: str
    block_ms: int
    part_ms: int
    traffic: float
    is_evm: bool


BASE = Chain("base", 2000, 200, 20, is_evm=True)
SOLANA = Chain("solana", 400, 10, 30, is_evm=False)


class Route(StrEnum):
    """A swap's way to the pool, which decides how many logs surround it."""

    DIRECT = "direct"
    AGGREGATOR = "aggregator"
    OPERATIONS = "operations"
    SETTLEMENT = "settlement"


@dataclass(frozen=True)
class Swap:
    """Swap in the token's pool. `actor` names the bundle that it belongs to; empty for independent ones."""

    account: str
    is_purchase: bool = True
    actor: str = ""


@dataclass(frozen=True)
class Transaction:
    """Transaction with one sender's swaps, or several users' swaps by one sender."""

    sender: str
    swaps: tuple[Swap, ...]
    route: Route = Route.DIRECT
    is_launch: bool = False


@dataclass(frozen=True)
class Order:
    """Transactions that arrive together. More than one are atomic, and keep their sequence."""

    at_ms: float
    fee: float
    transactions: tuple[Transaction, ...]


@dataclass(frozen=True)
class PlacedSwap:
    """Swap with its place on chain, as far as public data shows it, and the truth (`actor`)."""

    block: int
    seconds: int
    log_index: int
    transaction: str
    # The transaction's index in its block.
    place: int
    sender: str
    is_purchase: bool
    actor: str


@dataclass(frozen=True)
class Opening:
    """Launch with the swaps in its first minutes, in chain order."""

    chain: Chain
    block: int
    seconds: int
    place: int
    transaction: str
    # True if the launch's event names a purchase's recipient.
    has_own_purchase: bool
    swaps: tuple[PlacedSwap, ...]


def draw_fees(rng: np.random.Generator, count: int) -> Floats:
    """Return ordinary transactions' priority fees, in gwei: 40 % have their wallet's default."""
    fees = rng.lognormal(np.log(0.002), 2.0, count)
    return np.where(rng.random(count) < 0.4, _DEFAULT_FEE, fees)


def draw_traffic_logs(rng: np.random.Generator, count: int) -> Ints:
    """Return log counts for others' transactions."""
    classes = rng.choice(len(_TRAFFIC_LOGS), count, p=[share for share, _, _ in _TRAFFIC_LOGS])
    low = np.array([fewest for _, fewest, _ in _TRAFFIC_LOGS])[classes]
    high = np.array([most for _, _, most in _TRAFFIC_LOGS])[classes]
    return rng.integers(low, high + 1)


def build_opening(rng: np.random.Generator, chain: Chain, orders: Sequence[Order], *, is_v4: bool) -> Opening:
    """Return the opening in which these orders, one with the launch, share blocks with other traffic.

    Swaps before the launch are left out: they would fail.
    """
    blocks: dict[int, list[Order]] = {}
    for order in orders:
        blocks.setdefault(int(order.at_ms // chain.block_ms), []).append(order)
    swaps: list[PlacedSwap] = []
    launch: _Placed | None = None
    for block, inside in sorted(blocks.items()):
        for placed in _place_transactions(rng, chain, block, inside, is_v4=is_v4):
            if placed.transaction.is_launch:
                launch = placed
            if launch is not None:
                swaps.extend(_place_swaps(chain, placed))
    if launch is None:
        raise ValueError("No order contains the launch.")
    return Opening(
        chain=chain,
        block=launch.block,
        seconds=_block_seconds(chain, launch.block),
        place=launch.place,
        transaction=launch.name,
        has_own_purchase=bool(launch.transaction.swaps),
        swaps=tuple(swaps),
    )


@dataclass(frozen=True)
class _Placed:
    """Transaction with its place in the block; `first` is its first log, on Solana its place × 128."""

    block: int
    name: str
    place: int
    transaction: Transaction
    first: int
    offsets: list[int]


def _place_swaps(chain: Chain, placed: _Placed) -> list[PlacedSwap]:
    seconds = _block_seconds(chain, placed.block)
    return [
        PlacedSwap(
            placed.block,
            seconds,
            placed.first + offset,
            placed.name,
            placed.place,
            placed.transaction.sender,
            swap.is_purchase,
            swap.actor,
        )
        for swap, offset in zip(placed.transaction.swaps, placed.offsets, strict=True)
    ]


def _block_seconds(chain: Chain, block: int) -> int:
    return block * chain.block_ms // 1000


def _place_transactions(
    rng: np.random.Generator, chain: Chain, block: int, orders: Sequence[Order], *, is_v4: bool
) -> list[_Placed]:
    """Return the orders' transactions, behind the traffic that comes before them in the block."""
    start = block * chain.block_ms
    count = int(rng.poisson(chain.traffic * chain.block_ms / chain.part_ms))
    times = np.concatenate([rng.random(count) * chain.block_ms, [order.at_ms - start for order in orders]])
    fees = np.concatenate([draw_fees(rng, count), [order.fee for order in orders]])
    logs = draw_traffic_logs(rng, count)
    sequence = np.lexsort((times, -fees, times // chain.part_ms))
    placed: list[_Placed] = []
    index = place = 0
    for number in sequence.tolist():
        if number < count:
            index += int(logs[number])
            place += 1
            continue
        for transaction in orders[number - count].transactions:
            first = index if chain.is_evm else place * SOLANA_PLACE
            offsets, total = _draw_shape(rng, transaction, chain, is_v4=is_v4)
            placed.append(_Placed(block, f"{block}-{place}", place, transaction, first, offsets))
            index += total
            place += 1
    return placed


def _draw_shape(
    rng: np.random.Generator, transaction: Transaction, chain: Chain, *, is_v4: bool
) -> tuple[list[int], int]:
    """Return the swaps' indexes among their transaction's logs, and its log count."""
    count = len(transaction.swaps)
    if not chain.is_evm:
        # Any instruction; the launch is before its purchases.
        return [int(transaction.is_launch) + swap for swap in range(count)], int(transaction.is_launch)
    shapes = V4_SHAPES if is_v4 else V3_SHAPES
    drawn = [shapes[int(rng.integers(len(shapes)))] for _ in range(count)]
    if transaction.is_launch:
        return _draw_launch(rng, drawn, LOGS_AFTER_V4_SWAP if is_v4 else LOGS_AFTER_V3_SWAP)
    before, between, after = _surrounding_logs(rng, transaction.route, count)
    offsets = []
    index = before
    for total, swap in drawn:
        offsets.append(index + swap)
        index += total + between
    return offsets, index - between + after


def _draw_launch(rng: np.random.Generator, drawn: Sequence[tuple[int, int]], after: int) -> tuple[list[int], int]:
    index = int(rng.choice(LAUNCH_LOGS)) - 1
    offsets = []
    for total, swap in drawn:
        offsets.append(index + swap)
        index += total
    return offsets, (offsets[-1] + after if offsets else index) + 1


def _surrounding_logs(rng: np.random.Generator, route: Route, count: int) -> tuple[int, int, int]:
    """Return a route's logs before, between and after its swaps' logs."""
    match route:
        case Route.AGGREGATOR:
            # The route's other pools, approvals, fees and aggregator events.
            return int(rng.integers(5, 30)), int(rng.integers(3, 12)), int(rng.integers(5, 20))
        case Route.OPERATIONS:
            # ERC-4337: one event before the operations, then for each one its own event, a deposit and a fee.
            return 1 + count, int(rng.integers(1, 5)), int(rng.integers(1, 5))
        case Route.SETTLEMENT:
            # CoW: a transfer in and a Trade event for each order; then a transfer out for each, and the settlement.
            return 2 * count, 1, count + 1
        case Route.DIRECT:
            return 0, 0, 0
