"""The generator's knobs, and what bundles and crowds share: the launch's time and fee, fees and orders."""

from dataclasses import dataclass, field

import numpy as np

from benchmarks.integrity.opening_chain import Chain, Order, Route, Swap, Transaction, draw_fees


@dataclass(frozen=True)
class Knobs:
    """What a launch is like; lengths are inclusive ranges, shares are 0 to 1."""

    # Others' transactions in a block, as a multiple of the chain's own.
    traffic: float = 1.0
    # One bundle's wallets. Public reports have 3 to 68, most up to 20.
    wallets: tuple[int, int] = (3, 20)
    # Share of a script's wallets with their own fee, mostly within half and twice, and an arrival within 400 ms.
    disguise: float = 0.2
    # Independent buyers beside a bundle within the first minute, and in a rush.
    bystanders: tuple[int, int] = (0, 25)
    rush: tuple[int, int] = (20, 150)
    # Bots without connection to each other that buy right after the launch.
    snipers: tuple[int, int] = (0, 4)
    # Crowd launches whose creator buys in the launch's transaction.
    own_purchases: float = 0.4
    # Launches with a v4 pool, with 10 to 14 logs a swap; the others have a v3 pool, with 3.
    v4: float = 0.7
    # Purchases by a trading bot's or an aggregator's contract, among independent buyers.
    aggregators: float = 0.25
    # Generated length, in ms from the launch on.
    length_ms: int = 60_000


@dataclass
class Scene:
    """A launch that is filled with orders. All randomness is from `rng`."""

    rng: np.random.Generator
    chain: Chain
    knobs: Knobs
    launch_ms: float = 0.0
    launch_fee: float = 0.0
    orders: list[Order] = field(default_factory=list)
    _accounts: int = 0

    def __post_init__(self) -> None:
        # Blocks before it leave room for no purchase; the number only keeps block 0 free.
        self.launch_ms = 100 * self.chain.block_ms + float(self.rng.uniform(0, self.chain.block_ms))
        self.launch_fee = float(draw_fees(self.rng, 1)[0])

    def between(self, bounds: tuple[int, int]) -> int:
        """Return a whole number within the bounds, both included."""
        return int(self.rng.integers(bounds[0], bounds[1] + 1))

    def is_drawn(self, share: float) -> bool:
        """Return True for this share of the calls."""
        return bool(self.rng.random() < share)

    def new_account(self, prefix: str) -> str:
        """Return an account that was not used yet."""
        self._accounts += 1
        return f"{prefix}{self._accounts}"

    def retail_fee(self) -> float:
        """Return a person's wallet fee."""
        return float(draw_fees(self.rng, 1)[0])

    def bot_fee(self) -> float:
        """Return a bot's fee in a race, in gwei; the median is 25 times wallets' median."""
        return float(self.rng.lognormal(np.log(0.05), 1.5))

    def add_launch(self, own_swaps: tuple[Swap, ...] = ()) -> None:
        """Add the launch transaction."""
        sender = own_swaps[0].account if own_swaps else self.new_account("creator")
        self.orders.append(Order(self.launch_ms, self.launch_fee, (Transaction(sender, own_swaps, is_launch=True),)))

    def add_swap(self, at_ms: float, fee: float, swap: Swap, *, route: Route = Route.DIRECT) -> None:
        """Add a transaction with its sender's one swap."""
        self.orders.append(Order(at_ms, fee, (Transaction(swap.account, (swap,), route),)))

    def add_stranger(self, at_ms: float, fee: float, prefix: str = "buyer") -> None:
        """Add a purchase that belongs to no bundle."""
        route = Route.AGGREGATOR if self.is_drawn(self.knobs.aggregators) else Route.DIRECT
        self.add_swap(at_ms, fee, Swap(self.new_account(prefix)), route=route)

    def next_part(self, at_ms: float) -> float:
        """Return the next block part's start: others see then what is in this one."""
        return (at_ms // self.chain.part_ms + 1) * self.chain.part_ms
