"""Comparison of chart bars with bars computed from the chain's trades, in USD and in the paired token."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.utils import timezone

from tokens.chains.registry.chains import ChainInfo
from tokens.feeds.charts.chart_symbols import MOST_BARS, RESOLUTIONS, ChartSymbol, find_symbol, read_bars
from tokens.feeds.checking.chain_logs import PoolLog, price_at
from tokens.feeds.checking.valued_trades import ValuedTrade
from tokens.feeds.feed_pairs import FeedPair
from tokens.market.trading.candle_pages import INTERVALS, MINUTE
from tokens.models import Candle, MinuteCandle
from tokens.trades.retention import minutes_from

# Allowed relative differences: the feed's numbers are floats, and USD rates have 15 digits.
_IN_QUOTE, _IN_USD = Fraction(1, 10**15), Fraction(1, 10**10)
# The starting price is a tick's price, and pools round its square root.
_AT_START = Fraction(1, 10**8)
# Each trade's value is rounded to 6 decimals.
_ROUNDED_USD = Fraction(1, 10**6)
# A row stores the price after its first trade. Price lines begin with it, and so do bars without a previous close.
_STORED_OPEN = "stored open"


class _Mark(NamedTuple):
    """The price before a bar; `usd` is None if no pool has the rate, and for the starting price."""

    price: Fraction
    usd: Fraction | None
    is_start: bool = False
    is_uncertain: bool = False


@dataclass
class _Bar:
    first: int
    # None if the last trade before the bar was not read.
    before: _Mark | None = None
    last: int = 0
    prices: list[Fraction] = field(default_factory=list)
    # None for a trade that no pool prices.
    usd: list[Fraction | None] = field(default_factory=list)
    volume: Fraction = Fraction(0)
    volume_usd: Fraction = Fraction(0)
    trades: int = 0
    is_uncertain: bool = False

    def add(self, valued: ValuedTrade) -> None:
        trade = valued.trade
        self.last = trade.log.block
        self.prices.append(trade.price)
        self.usd.append(None if valued.rate is None else trade.price * valued.rate)
        self.is_uncertain |= valued.is_uncertain or (self.before is not None and self.before.is_uncertain)
        if not trade.is_conversion:
            self.trades += 1
            self.volume += Fraction(trade.quote, 10**trade.pair.quote_decimals)
            self.volume_usd += valued.usd or 0

    def columns(self, *, in_usd: bool, served: Mapping[str, float] | None) -> dict[str, Fraction] | None:
        """Return the values by their UDF names, and the row's open; None in USD if a trade has no price.

        The open is the previous close; if that close was not read, it is the served open.
        """
        prices = [price for price in (self.usd if in_usd else self.prices) if price is not None]
        if len(prices) < len(self.prices):
            return None
        opened = self._opening(prices[0], in_usd=in_usd)
        if self.before is None and served is not None:
            opened = Fraction(served["o"])
        high, low = max(*prices, opened), min(*prices, opened)
        volume = self.volume_usd if in_usd else self.volume
        stored = {_STORED_OPEN: prices[0]} if served is not None and _STORED_OPEN in served else {}
        return {"o": opened, "h": high, "l": low, "c": prices[-1], "v": volume} | stored

    def _opening(self, first: Fraction, *, in_usd: bool) -> Fraction:
        """Return the price before the first trade, else the first price; a starting price has the first USD rate."""
        before = self.before
        if before is None or (in_usd and before.usd is None and not before.is_start):
            return first
        if not in_usd:
            return before.price
        return before.price * first / self.prices[0] if before.usd is None else before.usd

    def tolerance(self, *, in_usd: bool) -> Fraction:
        """Return the allowed relative difference between prices."""
        is_started = self.before is not None and self.before.is_start
        return _AT_START if is_started else _IN_USD if in_usd else _IN_QUOTE


class BarCheck:
    """Bars from the blocks that are read, compared as soon as they have ended.

    `after` is the time of the block before the first one: bars that begin at it or earlier are incomplete.
    """

    def __init__(self, info: ChainInfo, pairs: Mapping[str, FeedPair], *, after: int, verified: int) -> None:
        self._info, self._verified = info, verified
        self._pairs = {pair.token_id: pair for pair in pairs.values()}
        self._pools = pairs
        # Token id -> newest price.
        self._marks: dict[int, _Mark] = {}
        self._bars: dict[str, dict[int, dict[int, _Bar]]] = {name: defaultdict(dict) for name in RESOLUTIONS}
        self._traded: set[int] = set()
        # For all bar sizes of one comparison: name -> the feed's symbol.
        self._symbols: dict[str, ChartSymbol | None] = {}
        minutes = int(minutes_from(timezone.now()).timestamp())
        self._compared_to = {
            name: _round_up(max(after + 1, minutes) if _is_of_minutes(name) else after + 1, _seconds(name))
            for name in RESOLUTIONS
        }
        self.bars = 0
        self.uncertain = 0

    def start(self, log: PoolLog) -> None:
        """Add a pool's starting price, if the log has it."""
        pair = self._pools[log.pool]
        # Before its first trade, a later pool has the former pool's price.
        if log.kind == "start" and pair.since is None:
            root = log.arguments["sqrtPriceX96"]
            decimals = {"decimals": pair.decimals, "quote_decimals": pair.quote_decimals}
            price = price_at(root, is_currency0=pair.is_currency0, **decimals)
            self._marks[pair.token_id] = _Mark(price, None, is_start=True)

    def add(self, valued: ValuedTrade) -> None:
        """Add a trade to its bars, in the chain's sequence."""
        trade, token_id = valued.trade, valued.trade.pair.token_id
        self._traded.add(token_id)
        for name, bars_by_token in self._bars.items():
            start = trade.timestamp - trade.timestamp % _seconds(name)
            if start >= self._compared_to[name]:
                bar = bars_by_token[token_id].setdefault(start, _Bar(trade.log.block, self._marks.get(token_id)))
                bar.add(valued)
        usd = None if valued.rate is None else trade.price * valued.rate
        self._marks[token_id] = _Mark(trade.price, usd, is_uncertain=valued.is_uncertain)

    def compare(self, until: int) -> Iterator[str]:
        """Yield a sentence for each bar that has ended by this time and is missing, invented or different."""
        self._symbols.clear()
        for name, bars_by_token in self._bars.items():
            first, seconds = self._compared_to[name], _seconds(name)
            end = max(until - until % seconds, first)
            # Stored bars that the chain may lack: no index finds bars of hours and days by time.
            stored = _stored_tokens(self._info, first, end) if _is_of_minutes(name) else self._traded
            for token_id in sorted((bars_by_token.keys() | stored) & self._pairs.keys()) if first < end else ():
                bars = bars_by_token.pop(token_id, {})
                ended = {start: bars[start] for start in sorted(bars) if start < end}
                if len(ended) < len(bars):
                    bars_by_token[token_id] = {start: bar for start, bar in bars.items() if start >= end}
                for in_usd in (False, True):
                    yield from self._compare_token(token_id, name, ended, (first, end), in_usd=in_usd)
            self._compared_to[name] = end

    def _compare_token(
        self, token_id: int, name: str, ended: Mapping[int, _Bar], window: tuple[int, int], *, in_usd: bool
    ) -> Iterator[str]:
        pair, (first, end) = self._pairs[token_id], window
        text = f"{self._info.chain_id}:{pair.token}{'' if in_usd else '.QUOTE'}"
        if text not in self._symbols:
            self._symbols[text] = find_symbol(text)
        if (symbol := self._symbols[text]) is None:
            yield f"symbol {text}: the feed lacks it"
            return
        launched = pair.created_at - pair.created_at % _seconds(name)
        served = _read_columns(symbol, name, max(first, launched), end)
        for start in sorted(served.keys() | ended.keys()):
            bar = ended.get(start)
            self.bars += 1
            if in_usd and bar is not None and (bar.is_uncertain or bar.last > self._verified):
                self.uncertain += 1
                continue
            start_text = datetime.fromtimestamp(start, UTC).isoformat()
            blocks = f"blocks {bar.first} to {bar.last}, " if bar else ""
            expected = bar.columns(in_usd=in_usd, served=served.get(start)) if bar else None
            tolerance = bar.tolerance(in_usd=in_usd) if bar else Fraction(0)
            rounded = _ROUNDED_USD * bar.trades if bar and in_usd else Fraction(0)
            for difference in _differing(served.get(start), expected, tolerance, rounded):
                yield f"{blocks}bar {name} of {text} at {start_text}: {difference}"


def _differing(
    served: Mapping[str, Any] | None, expected: Mapping[str, Fraction] | None, tolerance: Fraction, rounded: Fraction
) -> Iterator[str]:
    if served is None or expected is None:
        if expected is not None:
            yield "the feed lacks it"
        elif served is not None:
            yield "the chain does not have it"
        return
    for name, value in expected.items():
        allowed = tolerance * value + (rounded if name == "v" else 0)
        if abs(Fraction(served[name]) - value) > allowed:
            yield f"{name} is {served[name]} in the feed, and {float(value)} on the chain"


def _read_columns(symbol: ChartSymbol, name: str, first: int, end: int) -> dict[int, dict[str, float]]:
    """Return start -> values for each bar in the feed, with its row's open; one response has up to MOST_BARS."""
    bars: dict[int, dict[str, float]] = {}
    step = MOST_BARS * _seconds(name)
    for start in range(first, end, step):
        answer = read_bars(symbol, name, start=start, end=min(start + step, end), count=None)
        if answer["s"] == "ok":
            rows = zip(answer["t"], answer["o"], answer["h"], answer["l"], answer["c"], answer["v"], strict=True)
            bars |= {bar_start: dict(zip("ohlcv", values, strict=True)) for bar_start, *values in rows}
    for row_start, opened in _read_stored_opens(symbol, name, first, end):
        if int(row_start.timestamp()) in bars:
            bars[int(row_start.timestamp())][_STORED_OPEN] = opened
    return bars


def _read_stored_opens(symbol: ChartSymbol, name: str, first: int, end: int) -> Iterable[tuple[datetime, Any]]:
    """Return each stored row's start and open between two times; nothing for bars that are folded from others."""
    interval = INTERVALS[RESOLUTIONS[name]]
    if interval.seconds != interval.stored:
        return ()
    rows: QuerySet[Any] = MinuteCandle.objects.all()
    if not _is_of_minutes(name):
        rows = Candle.objects.filter(seconds=interval.seconds)
    begin, stop = (datetime.fromtimestamp(seconds, UTC) for seconds in (first, end))
    token_rows = rows.filter(token_id=symbol.token_id, at__gte=begin, at__lt=stop)
    return token_rows.values_list("at", "open_usd" if symbol.in_usd else "open")


def _stored_tokens(info: ChainInfo, first: int, end: int) -> set[int]:
    """Return the tokens that have stored minute candles between these times, whether or not the chain has trades."""
    begin, stop = (datetime.fromtimestamp(seconds, UTC) for seconds in (first, end))
    rows = MinuteCandle.objects.filter(at__gte=begin, at__lt=stop, token__chain_id=info.chain_id)
    return set(rows.values_list("token_id", flat=True).distinct())


def _seconds(name: str) -> int:
    return INTERVALS[RESOLUTIONS[name]].seconds


def _is_of_minutes(name: str) -> bool:
    return INTERVALS[RESOLUTIONS[name]].stored == MINUTE


def _round_up(seconds: int, interval: int) -> int:
    return -(-seconds // interval) * interval
