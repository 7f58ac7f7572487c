"""Honest token kinds: people who buy, buy more and sell for their own reasons.

All hours are relative to the ranking. A person buys for a log-normal amount (sigma 1.1), buys more within hours in
three cases in ten, and sells all or half after an exponential time, at a price that has moved since. Where a kind has a
crowd, its size is log-uniform: chains have few large tokens and many small ones.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import exp, log
from random import Random

from benchmarks.trending.sample_trades import SampleToken, SampleTrade, log_uniform, within_the_window

_SIGMA = 1.1
_BUYS_MORE = 0.3


class Crowd:
    """People who trade one token."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.trades: list[SampleTrade] = []
        self._people = 0

    def join(self, at: float, *, median_usd: float, sells: float, hold_hours: float, sigma: float = _SIGMA) -> None:
        """Add a person who buys at this hour and sells with the probability `sells` after `hold_hours` on average."""
        rng, person = self.rng, self.new_person()
        paid = self.trade(at, rng.lognormvariate(log(median_usd), sigma), True, person)
        if rng.random() < _BUYS_MORE:
            at += rng.expovariate(1 / 4)
            paid += self.trade(at, rng.lognormvariate(log(median_usd), sigma) / 2, True, person)
        if rng.random() < sells:
            part = rng.choice((0.5, 1.0))
            self.trade(at + rng.expovariate(1 / hold_hours), paid * part * exp(rng.gauss(0, 0.3)), False, person)

    def leave(self, at: float, usd: float) -> None:
        """Add a sale by a person who bought before the window."""
        self.trade(at, usd, False, self.new_person())

    def run_bot(self, number: int, *, rounds: int, usd: float, start: float, end: float) -> None:
        """Add a bot that buys and sells back within minutes, `rounds` times."""
        for _ in range(rounds):
            at, size = self.rng.uniform(start, end), usd * self.rng.uniform(0.5, 1.5)
            buys_first = self.rng.random() < 0.5
            for place, is_buy in enumerate((buys_first, not buys_first)):
                self.trades.append(
                    SampleTrade(at + place * self.rng.uniform(0, 0.1), size, is_buy, trader=f"bot-{number}")
                )

    def new_person(self) -> str:
        """Return one more person's name."""
        self._people += 1
        return f"person-{self._people}"

    def trade(self, at: float, usd: float, is_buy: bool, person: str) -> float:
        """Add a person's trade, and return its USD."""
        self.trades.append(SampleTrade(at, usd, is_buy, trader=person, person=person))
        return usd


def _quiet(crowd: Crowd) -> None:
    """Add one to eight people at any hour in two days."""
    for _ in range(crowd.rng.randint(1, 8)):
        crowd.join(crowd.rng.uniform(-48, 6), median_usd=25, sells=0.4, hold_hours=12)


def _loyal_few(crowd: Crowd) -> None:
    """Add 5 to 20 people who come back two to six times a day and rarely sell."""
    rng = crowd.rng
    for _ in range(rng.randint(5, 20)):
        person = crowd.new_person()
        for _ in range(rng.randint(2, 9)):
            crowd.trade(rng.uniform(-36, 6), rng.lognormvariate(log(40), 0.7), rng.random() < 0.8, person)


def _steady(crowd: Crowd) -> None:
    """Add 20 to 400 buyers a day at a constant rate for three days."""
    rng = crowd.rng
    a_day, median_usd = log_uniform(rng, 20, 400), log_uniform(rng, 20, 90)
    for _ in range(round(a_day * 78 / 24)):
        crowd.join(rng.uniform(-72, 6), median_usd=median_usd, sells=0.6, hold_hours=20)


def _hype(crowd: Crowd) -> None:
    """Add 100 to 1,200 buyers since a peak 2 to 30 hours ago; their rate halves every 2 to 6 hours."""
    rng = crowd.rng
    peak, half_life, median_usd = rng.uniform(-30, -2), rng.uniform(2, 6), log_uniform(rng, 20, 80)
    for _ in range(round(log_uniform(rng, 100, 1200))):
        at = peak + rng.expovariate(log(2) / half_life)
        crowd.join(at, median_usd=median_usd, sells=0.75, hold_hours=5)


def _rising(crowd: Crowd) -> None:
    """Add 60 to 500 buyers, whose rate has doubled every 6 to 10 hours and goes on to."""
    rng = crowd.rng
    doubling, median_usd = rng.uniform(6, 10), log_uniform(rng, 20, 80)
    for _ in range(round(log_uniform(rng, 60, 500))):
        crowd.join(6 - rng.expovariate(log(2) / doubling), median_usd=median_usd, sells=0.3, hold_hours=15)


def _whales(crowd: Crowd) -> None:
    """Add 3 to 12 buyers for thousands of USD beside 10 to 40 small ones."""
    rng = crowd.rng
    for _ in range(rng.randint(3, 12)):
        crowd.join(rng.uniform(-40, 6), median_usd=log_uniform(rng, 2_000, 15_000), sells=0.4, hold_hours=24, sigma=0.5)
    for _ in range(rng.randint(10, 40)):
        crowd.join(rng.uniform(-40, 6), median_usd=40, sells=0.5, hold_hours=15)


def _arbitraged(crowd: Crowd) -> None:
    """Add 15 to 120 buyers a day, and one to three bots with 50 to 200 round trips each."""
    rng = crowd.rng
    for _ in range(round(log_uniform(rng, 15, 120) * 54 / 24)):
        crowd.join(rng.uniform(-48, 6), median_usd=40, sells=0.5, hold_hours=15)
    for number in range(rng.randint(1, 3)):
        crowd.run_bot(number, rounds=rng.randint(50, 200), usd=log_uniform(rng, 50, 500), start=-36, end=6)


def _new_launch(crowd: Crowd) -> None:
    """Add a launch 1 to 6 hours ago: 5 to 20 snipers who sell within the hour, and 40 to 600 buyers after them."""
    rng = crowd.rng
    launch, mean_hours = rng.uniform(-6, -1), rng.uniform(1.5, 6)
    for _ in range(rng.randint(5, 20)):
        crowd.join(launch + rng.uniform(0, 0.03), median_usd=200, sells=0.95, hold_hours=0.5, sigma=0.5)
    for _ in range(round(log_uniform(rng, 40, 600))):
        crowd.join(launch + rng.expovariate(1 / mean_hours), median_usd=45, sells=0.45, hold_hours=4)


def _dump(crowd: Crowd) -> None:
    """Add 80 to 500 buyers before a dump 2 to 8 hours ago, after which four in five sell, and the launcher first."""
    rng = crowd.rng
    dump = rng.uniform(-8, -2)
    for _ in range(round(log_uniform(rng, 80, 500))):
        bought, person = rng.uniform(dump - 24, dump), crowd.new_person()
        paid = crowd.trade(bought, rng.lognormvariate(log(40), _SIGMA), True, person)
        if rng.random() < 0.8:
            crowd.trade(dump + rng.expovariate(1.0), paid * rng.uniform(0.2, 0.8), False, person)
    for _ in range(rng.randint(1, 4)):
        crowd.leave(dump, log_uniform(rng, 2_000, 10_000))
    for _ in range(rng.randint(5, 30)):
        crowd.join(dump + rng.expovariate(1 / 6), median_usd=25, sells=0.5, hold_hours=6)


def _backfilled(crowd: Crowd) -> None:
    """Add a steady crowd whose trades before 4 to 12 hours ago were read from log ranges, without a sender."""
    _steady(crowd)
    since = -crowd.rng.uniform(4, 12)
    crowd.trades = [replace(trade, trader=None) if trade.at < since else trade for trade in crowd.trades]


def _smart_wallets(crowd: Crowd) -> None:
    """Add a steady crowd whose transactions are sent by two to five bundlers (ERC-4337)."""
    _steady(crowd)
    bundlers = crowd.rng.randint(2, 5)
    crowd.trades = [replace(trade, trader=f"bundler-{crowd.rng.randrange(bundlers)}") for trade in crowd.trades]


# Each kind with its number among the 78 honest tokens in a population.
KINDS: Mapping[str, tuple[Callable[[Crowd], None], int]] = {
    "quiet": (_quiet, 18),
    "loyal_few": (_loyal_few, 14),
    "steady": (_steady, 10),
    "hype": (_hype, 8),
    "rising": (_rising, 3),
    "whales": (_whales, 5),
    "arbitraged": (_arbitraged, 6),
    "new_launch": (_new_launch, 5),
    "dump": (_dump, 4),
    "backfilled": (_backfilled, 2),
    "smart_wallets": (_smart_wallets, 3),
}


def invent_honest_tokens(seed: int) -> list[SampleToken]:
    """Return this seed's 78 honest tokens, equal for equal seeds."""
    tokens = []
    for kind, (populate, count) in KINDS.items():
        for number in range(count):
            crowd = Crowd(Random(f"{seed}/{kind}/{number}"))
            populate(crowd)
            trades = within_the_window(crowd.trades)
            tokens.append(SampleToken(f"{kind}-{number}", kind, is_honest=True, trades=trades))
    return tokens
