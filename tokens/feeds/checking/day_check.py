"""Comparison of the feed's daily sums with sums over the chain's trades."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from tokens.chains.evm.evm_chain import Chain
from tokens.feeds.checking.valued_trades import ValuedTrade
from tokens.feeds.daily_sums import describe_day
from tokens.feeds.served_blocks import first_block_from

_DAY = 86_400
_PPM = 10**6
# The feed rounds each trade's value to 6 decimals.
_ROUNDED_USD = Fraction(1, 10**6)
# Allowed relative difference: rates have 15 digits.
_TOLERANCE = Fraction(1, 10**10)


@dataclass
class _QuoteSums:
    trades: int = 0
    without_fee: int = 0
    without_usd: int = 0
    volume: int = 0
    # In millionths of a smallest unit.
    fees: int = 0
    volume_usd: Fraction = Fraction(0)
    fees_usd: Fraction = Fraction(0)
    decimals: int = 0
    is_uncertain: bool = False

    def add(self, valued: ValuedTrade) -> None:
        trade, fee, usd = valued.trade, valued.fee, valued.usd
        self.decimals = trade.pair.quote_decimals
        self.trades += 1
        self.without_fee += fee is None
        self.without_usd += usd is None
        self.is_uncertain |= valued.is_uncertain
        self.volume += trade.quote
        self.fees += trade.quote * (fee or 0)
        if usd is not None:
            self.volume_usd += usd
            self.fees_usd += usd * Fraction(fee or 0, _PPM)

    def columns(self) -> dict[str, Fraction]:
        """Return the sums by the feed's names; sums in USD only if each rate is certain."""
        sums = {
            "trades": Fraction(self.trades),
            "tradesWithoutFee": Fraction(self.without_fee),
            "volume": Fraction(self.volume, 10**self.decimals),
            "fees": Fraction(self.fees // _PPM, 10**self.decimals),
        }
        if self.is_uncertain:
            return sums
        in_usd = {"volumeUsd": self.volume_usd, "feesUsd": self.fees_usd}
        return sums | {"tradesWithoutUsd": Fraction(self.without_usd)} | in_usd


class DayCheck:
    """Sums for UTC days that the blocks cover completely, compared as soon as a block on the next day is read.

    `after` is the time of the block before the first one. Days with blocks that are not verified are left out.
    """

    def __init__(self, chain: Chain, *, after: int, verified: int) -> None:
        self._chain, self._verified = chain, verified
        self._next = -(-(after + 1) // _DAY) * _DAY
        self._sums: dict[int, dict[str, _QuoteSums]] = defaultdict(lambda: defaultdict(_QuoteSums))
        self.days = 0
        self.uncertain = 0

    def add(self, valued: ValuedTrade) -> None:
        """Add a trade to its day; conversions count in no sum."""
        trade = valued.trade
        day = trade.timestamp - trade.timestamp % _DAY
        if day >= self._next and not trade.is_conversion:
            self._sums[day][trade.pair.quote].add(valued)

    def compare(self, until: int, *, newest: int) -> Iterator[str]:
        """Yield a sentence for each sum that differs on a day that has ended by `until`.

        `until` is the time of the block `newest`, in Unix seconds. Raises NodeUnavailableError.
        """
        while self._next + _DAY <= until:
            start = self._next
            self._next += _DAY
            first, end = (first_block_from(self._chain, time, newest=newest) for time in (start, self._next))
            if first < end <= self._verified + 1:
                yield from self._compare_day(datetime.fromtimestamp(start, UTC), first, end - 1)

    def _compare_day(self, start: datetime, first: int, last: int) -> Iterator[str]:
        self.days += 1
        served = describe_day(self._chain.info, start, start + timedelta(days=1), first, last)
        in_feed: dict[str, Mapping[str, Any]] = {quote["quote"]: quote for quote in served["quotes"]}
        on_chain = self._sums.pop(int(start.timestamp()), {})
        for quote in sorted(in_feed.keys() | on_chain.keys()):
            where = f"blocks {first} to {last}, day {start.date()}, quote token {quote}"
            if quote not in in_feed:
                yield f"{where}: the feed lacks it"
            elif quote not in on_chain:
                yield f"{where}: the chain does not have it"
            else:
                sums = on_chain[quote]
                self.uncertain += sums.is_uncertain
                for name, value in sums.columns().items():
                    rounded = _TOLERANCE * value + _ROUNDED_USD * sums.trades if name.endswith("Usd") else Fraction(0)
                    if abs(Fraction(in_feed[quote][name]) - value) > rounded:
                        yield f"{where}: {name} is {in_feed[quote][name]} in the feed, and {float(value)} on the chain"
