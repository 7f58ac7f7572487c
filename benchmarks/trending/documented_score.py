"""The trending score by its formula in docs/market.md, computed without SQL from all token trades."""

from collections import defaultdict
from math import sqrt

from benchmarks.trending.sample_trades import SampleToken
from benchmarks.trending.trending_database import SLOT_SECONDS, block_time

_HALF_LIFE_SECONDS = 6 * 3600
_SCORE_HALF_LIFE_SECONDS = 12 * 3600
_COUNTS_SECONDS = 24 * 3600


def documented_score(token: SampleToken, *, ranked_at: int) -> float:
    """Return the score at `ranked_at` (Unix seconds).

    A trader counts for 24 hours from the last trade on, and is new after a longer pause. Pauses end with slots here.
    """
    by_trader: dict[str | None, list[tuple[int, float]]] = defaultdict(list)
    for trade in token.past:
        if not trade.is_conversion:
            age = ranked_at - block_time(trade, ranked_at=ranked_at)
            by_trader[trade.trader].append((age, trade.signed_usd))
    return sum(sqrt(max(0.0, _net(trades))) for trades in by_trader.values())


def relative_error(token: SampleToken, stored: float | None, *, ranked_at: int) -> float:
    """Return how far the stored number is from the documented score, as a share.

    Where the formula has no score, return the stored one.
    """
    score = documented_score(token, ranked_at=ranked_at)
    found = 0.0 if stored is None else stored_score(stored, ranked_at=ranked_at)
    return abs(found - score) / score if score else found


def stored_score(trending: float, *, ranked_at: int) -> float:
    """Return a stored number's score, which is log2(score) + t / 12 h."""
    return float(2.0 ** (trending - ranked_at / _SCORE_HALF_LIFE_SECONDS))


def _net(trades: list[tuple[int, float]]) -> float:
    """Return the net over trades, each with its age in seconds, the oldest first."""
    net, last = 0.0, trades[0][0]
    for age, signed_usd in trades:
        slot_age = -(-age // SLOT_SECONDS) * SLOT_SECONDS
        if last - slot_age > _COUNTS_SECONDS:
            net = 0.0
        net += signed_usd * 2 ** (-age / _HALF_LIFE_SECONDS)
        last = age
    return net if last <= _COUNTS_SECONDS else 0.0
