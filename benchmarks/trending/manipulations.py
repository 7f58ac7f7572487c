"""Manipulated token kinds, each with a budget in multiples of a nominal one.

A manipulated token has its author's trades only. A kind grows with its budget by number or by USD a trade, whichever
its author would raise. All hours are relative to the ranking, which the author knows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from benchmarks.trending.sample_trades import SampleToken, SampleTrade, log_uniform, within_the_window


class Author:
    """One author's trades, and the transfers between the author's wallets."""

    def __init__(self, rng: Random, scale: float) -> None:
        self.rng = rng
        self.scale = scale
        self.trades: list[SampleTrade] = []
        self.transfers = 0

    def buy(self, wallet: str | None, usd: float, at: float, *, is_conversion: bool = False) -> None:
        """Add a purchase."""
        self.trades.append(SampleTrade(at, usd, True, wallet, is_conversion=is_conversion))

    def sell(self, wallet: str | None, usd: float, at: float) -> None:
        """Add a sale."""
        self.trades.append(SampleTrade(at, usd, False, wallet))

    def fund(self, wallets: int) -> list[str]:
        """Return so many fresh wallets, each funded by a transfer."""
        self.transfers += wallets
        return [f"wallet-{number}" for number in range(wallets)]


def _self_trade(author: Author) -> None:
    """Buy and sell back $250 with one wallet, 60 times in 24 hours."""
    for _ in range(60):
        at = author.rng.uniform(-24, -0.1)
        author.buy("wallet-0", 250 * author.scale, at)
        author.sell("wallet-0", 250 * author.scale, at + 0.05)


def _self_trade_often(author: Author) -> None:
    """Buy and sell back $5 with one wallet, 150 times in 24 hours."""
    for _ in range(max(1, round(150 * author.scale))):
        at = author.rng.uniform(-24, -0.1)
        author.buy("wallet-0", 5, at)
        author.sell("wallet-0", 5, at + 0.05)


def _two_wallets(author: Author) -> None:
    """Let two wallets buy $250 in turn, and the other one sell what was bought, 60 times."""
    wallets = author.fund(2)
    for number in range(60):
        at = -24 + number * 0.398
        author.buy(wallets[number % 2], 250 * author.scale, at)
        author.sell(wallets[1 - number % 2], 250 * author.scale, at + 0.1)
        author.transfers += 1


def _one_way_pair(author: Author) -> None:
    """Let one wallet only buy $250 and another one only sell it, 60 times: the tokens pass by a transfer."""
    buyer, seller = author.fund(2)
    for number in range(60):
        at = -24 + number * 0.398
        author.buy(buyer, 250 * author.scale, at)
        author.sell(seller, 250 * author.scale, at + 0.1)
        author.transfers += 1


def _ring(author: Author) -> None:
    """Pass $100 around 20 wallets five times: each buys, and the next one sells what it bought."""
    wallets = author.fund(20)
    for number in range(100):
        at = -24 + number * 0.238
        author.buy(wallets[number % 20], 100 * author.scale, at)
        author.sell(wallets[(number + 1) % 20], 100 * author.scale, at + 0.1)
        author.transfers += 1


def _fresh_hold(author: Author) -> None:
    """Buy $20 with each of 100 fresh wallets within eight hours, and hold."""
    for wallet in author.fund(max(1, round(100 * author.scale))):
        author.buy(wallet, 20, author.rng.uniform(-8, -0.2))


def _fresh_exit(author: Author) -> None:
    """Buy $20 with each of 100 fresh wallets within eight hours, and sell all of it in the last hour."""
    for wallet in author.fund(max(1, round(100 * author.scale))):
        author.buy(wallet, 20, author.rng.uniform(-8, -1.1))
        author.sell(wallet, 20, author.rng.uniform(-1, -0.05))


def _informed_hold(author: Author) -> None:
    """Buy $3, the cheapest size by docs/market.md, with each of 200 fresh wallets in the last two hours, and hold."""
    for wallet in author.fund(max(1, round(200 * author.scale))):
        author.buy(wallet, 3, author.rng.uniform(-2, -0.1))


def _hidden_exit(author: Author) -> None:
    """Buy $3 with each of 200 fresh wallets; let one other wallet receive the tokens of ten at a time and sell them."""
    wallets = author.fund(max(1, round(200 * author.scale)))
    for first in range(0, len(wallets), 10):
        at, lot = author.rng.uniform(-2, -0.2), wallets[first : first + 10]
        for wallet in lot:
            author.buy(wallet, 3, at + author.rng.uniform(0, 0.05))
        author.transfers += len(lot)
        author.sell("seller", 3 * len(lot), at + 0.1)


def _tiny_burst(author: Author) -> None:
    """Buy $0.01 with each of 1,000 fresh wallets, in ten minute-long bursts within six hours."""
    bursts = [author.rng.uniform(-6, -0.1) for _ in range(10)]
    for number, wallet in enumerate(author.fund(1000)):
        author.buy(wallet, 0.01 * author.scale, bursts[number % 10] + author.rng.uniform(0, 1 / 60))


def _late_whale(author: Author) -> None:
    """Buy $5,000 with one wallet ten minutes before the ranking, and hold."""
    author.buy("wallet-0", 5_000 * author.scale, -1 / 6)


def _timed_cycles(author: Author) -> None:
    """Buy $100 with each of 20 wallets, sell half a day before the ranking, and buy again right before it."""
    for wallet in author.fund(20):
        usd = 100 * author.scale
        author.buy(wallet, usd, author.rng.uniform(-20, -18))
        author.sell(wallet, usd, author.rng.uniform(-13, -11))
        author.buy(wallet, usd, author.rng.uniform(-0.4, -0.1))


def _locker_conversions(author: Author) -> None:
    """Let the locker convert $200 of collected fees into the token every hour."""
    for hour in range(24):
        author.buy("locker", 200 * author.scale, -hour - 0.5, is_conversion=True)


def _unknown_trader(author: Author) -> None:
    """Buy $20 a hundred times in eight hours, in transactions whose sender the index lacks, and hold."""
    for _ in author.fund(100):
        author.buy(None, 20 * author.scale, author.rng.uniform(-8, -0.2))


@dataclass(frozen=True)
class Manipulation:
    """A kind: a budget's trades, and its ladder's budgets in multiples of the nominal one."""

    act: Callable[[Author], None]
    # Each ladder rung is so many times the rung below; a seed shifts all rungs by a part of a step.
    step: float
    rungs: tuple[int, int]

    def ladder(self, seed: int, kind: str) -> list[float]:
        """Return this seed's budgets, ascending."""
        shift = Random(f"{seed}/{kind}/ladder").random()
        return [self.step ** (rung + shift) for rung in range(*self.rungs)]


# Rungs of kinds that grow by wallets or trades double, and of those that grow by USD a trade quadruple; both begin at a
# quarter of the nominal budget.
_BY_NUMBER = (2.0, (-2, 4))
_BY_USD = (4.0, (-1, 7))
KINDS: Mapping[str, Manipulation] = {
    "self_trade": Manipulation(_self_trade, *_BY_USD),
    "self_trade_often": Manipulation(_self_trade_often, *_BY_NUMBER),
    "two_wallets": Manipulation(_two_wallets, *_BY_USD),
    "one_way_pair": Manipulation(_one_way_pair, *_BY_USD),
    "ring": Manipulation(_ring, *_BY_USD),
    "fresh_hold": Manipulation(_fresh_hold, *_BY_NUMBER),
    "fresh_exit": Manipulation(_fresh_exit, *_BY_NUMBER),
    "informed_hold": Manipulation(_informed_hold, *_BY_NUMBER),
    "hidden_exit": Manipulation(_hidden_exit, *_BY_NUMBER),
    "tiny_burst": Manipulation(_tiny_burst, *_BY_USD),
    "late_whale": Manipulation(_late_whale, *_BY_USD),
    "timed_cycles": Manipulation(_timed_cycles, *_BY_USD),
    "locker_conversions": Manipulation(_locker_conversions, *_BY_USD),
    "unknown_trader": Manipulation(_unknown_trader, *_BY_USD),
}
# The manipulated tokens' budgets in a population, two per kind, in multiples of the nominal one.
_BUDGETS = (0.5, 8.0)


def invent_manipulated_tokens(seed: int) -> list[SampleToken]:
    """Return the 28 manipulated tokens in this seed's population, two per kind with random budgets."""
    tokens = []
    for kind in KINDS:
        for number in range(2):
            rng = Random(f"{seed}/{kind}/{number}")
            tokens.append(_manipulate(f"{kind}-{number}", kind, rng, log_uniform(rng, *_BUDGETS)))
    return tokens


def invent_ladders(seed: int) -> list[SampleToken]:
    """Return, for each kind, a token for each budget in its ladder, ascending."""
    return [
        _manipulate(f"{kind}-rung-{number}", kind, Random(f"{seed}/{kind}/rung/{number}"), scale)
        for kind, manipulation in KINDS.items()
        for number, scale in enumerate(manipulation.ladder(seed, kind))
    ]


def _manipulate(key: str, kind: str, rng: Random, scale: float) -> SampleToken:
    author = Author(rng, scale)
    KINDS[kind].act(author)
    trades = within_the_window(author.trades)
    return SampleToken(key, kind, is_honest=False, scale=scale, trades=trades, transfers=author.transfers)
