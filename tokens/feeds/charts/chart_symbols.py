"""Symbols and bars of TradingView's UDF: each launched token in USD and in its quote token.

A symbol is `<chain id>:<address>`, in the quote token `<chain id>:<address>.QUOTE`, in any case: the library writes
symbols in capitals. Source: the UDF protocol of the Charting Library's documentation.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, log10

from django.db.models.fields.json import KeyTextTransform, KeyTransform

from config.site.formats import plain
from tokens.catalogue.responses import TokenRecord
from tokens.chains.addresses import parse_address
from tokens.feeds import responses
from tokens.feeds.served_blocks import NotServedError, feed_chains, find_feed_chain
from tokens.market.trading.candle_pages import INTERVALS, CandleInterval, CandleRange, fetch_candles, find_newest_in_usd
from tokens.market.trading.responses import CandleJson
from tokens.models import Token

# UDF resolution -> candle interval.
RESOLUTIONS = {"1": "1m", "5": "5m", "15": "15m", "60": "1h", "240": "4h", "1D": "1d"}
# The library writes a day in both ways.
RESOLUTION_NAMES = (*RESOLUTIONS, "D")
# Bars in one response.
MOST_BARS = 1_000
SYMBOL_RULE = "must be <chain id>:<address>, in USD, or <chain id>:<address>.QUOTE, in the paired token"
_SYMBOL = re.compile(r"([1-9][0-9]{0,17}):(0[xX][0-9a-fA-F]{40})(\.[qQ][uU][oO][tT][eE])?")
_QUOTE_DECIMALS = KeyTextTransform("pair_decimals", KeyTransform("pool", "launch__facts"))
# Significant digits of a price on the axis, and its maximum decimals.
_PRICE_DIGITS, _MOST_DECIMALS = 5, 16


@dataclass(frozen=True, kw_only=True)
class ChartSymbol:
    """A token in one currency."""

    token_id: int
    chain_id: int
    chain_name: str
    address: str
    name: str
    symbol: str
    # The paired token.
    quote: str
    quote_decimals: int
    in_usd: bool
    # The newest price in the currency; None if unknown.
    price: float | None

    @property
    def ticker(self) -> str:
        """Return the symbol for bar requests."""
        return f"{self.chain_id}:{self.address}{'' if self.in_usd else '.QUOTE'}"


def find_symbol(text: str) -> ChartSymbol | None:
    """Return a symbol's token, blocked or not; None if there is none. At most one query.

    Raises ValueError with the rule for a malformed symbol.
    """
    match = _SYMBOL.fullmatch(text)
    if match is None:
        raise ValueError(SYMBOL_RULE)
    try:
        chain = find_feed_chain(int(match[1]))
    except NotServedError:
        return None
    address, in_usd = parse_address(match[2]), not match[3]
    price = "market__price_usd" if in_usd else "market__price_quote"
    columns = ("pk", "name", "symbol", "pair", _QUOTE_DECIMALS, price)
    row = Token.objects.at_address(address, chain_id=chain.chain_id).values_list(*columns).first()
    if row is None or row[4] is None:
        return None
    token_id, name, symbol, quote, decimals, newest = row
    return ChartSymbol(
        token_id=token_id,
        chain_id=chain.chain_id,
        chain_name=chain.name,
        address=address,
        name=plain(name) or address,
        symbol=plain(symbol) or address,
        quote=plain(quote),
        quote_decimals=int(decimals),
        in_usd=in_usd,
        price=None if newest is None else float(newest),
    )


def describe_config() -> responses.ChartConfig:
    """Return the response body for /config."""
    chains: list[responses.ChartExchange] = [
        {"value": str(chain.chain_id), "name": chain.name, "desc": chain.name} for chain in feed_chains()
    ]
    return {
        "supports_search": True,
        "supports_group_request": False,
        "supports_marks": False,
        "supports_timescale_marks": False,
        "supports_time": True,
        "exchanges": [{"value": "", "name": "All chains", "desc": ""}, *chains],
        "symbols_types": [{"name": "Tokens", "value": "crypto"}],
        "supported_resolutions": list(RESOLUTIONS),
    }


def describe_symbol(symbol: ChartSymbol) -> responses.ChartSymbolJson:
    """Return the response body for /symbols."""
    currency = "USD" if symbol.in_usd else symbol.quote
    return {
        "name": f"{symbol.symbol}/{currency}",
        "ticker": symbol.ticker,
        "description": symbol.name,
        "type": "crypto",
        "session": "24x7",
        "timezone": "Etc/UTC",
        "exchange": symbol.chain_name,
        "listed_exchange": symbol.chain_name,
        "format": "price",
        "minmov": 1,
        "pricescale": _price_scale(symbol.price),
        "has_intraday": True,
        "has_daily": True,
        "has_weekly_and_monthly": False,
        "intraday_multipliers": [name for name in RESOLUTIONS if name.isdigit()],
        "supported_resolutions": list(RESOLUTIONS),
        "visible_plots_set": "ohlcv",
        "volume_precision": 2,
        "data_status": "streaming",
        "currency_code": currency,
    }


def describe_matches(records: Iterable[TokenRecord], *, limit: int) -> list[responses.ChartMatch]:
    """Return the response body for /search, in USD, without tokens on chains that feeds don't cover."""
    names = {chain.chain_id: chain.name for chain in feed_chains()}
    covered = [record for record in records if record["chain_id"] in names]
    return [
        {
            "symbol": f"{plain(record['symbol'] or '') or record['contract_address']}/USD",
            "full_name": f"{record['chain_id']}:{record['contract_address']}",
            "ticker": f"{record['chain_id']}:{record['contract_address']}",
            "description": plain(record["name"] or "") or record["contract_address"],
            "exchange": names[record["chain_id"]],
            "type": "crypto",
        }
        for record in covered[:limit]
    ]


def read_bars(symbol: ChartSymbol, resolution: str, *, start: int, end: int, count: int | None) -> responses.ChartBars:
    """Return the /history response body for bars that begin within [start, end), Unix seconds; at most two queries.

    With `count`, return that many bars before `end` and ignore `start`. At most MOST_BARS are returned, the newest.
    Without a bar, `nextTime` is the newest one before `start`; with `count`, the newest one with a price before `end`.
    """
    interval = INTERVALS[RESOLUTIONS.get(resolution, "1d")]
    first, limit = (start, MOST_BARS) if count is None else (0, min(count, MOST_BARS))
    candles = _read(symbol, interval, first, end, limit)
    if candles:
        return {
            "s": "ok",
            "t": [int(candle["t"].timestamp()) for candle in candles],
            "o": [candle["o"] for candle in candles],
            "h": [candle["h"] for candle in candles],
            "l": [candle["l"] for candle in candles],
            "c": [candle["c"] for candle in candles],
            "v": [_volume(symbol, candle) for candle in candles],
        }
    newest = _find_newest(symbol, interval, start if count is None else end)
    return {"s": "no_data"} if newest is None else {"s": "no_data", "nextTime": newest}


def _find_newest(symbol: ChartSymbol, interval: CandleInterval, before: int) -> int | None:
    """Return the start of the newest bar before a time; in USD the newest candles may have no price."""
    if symbol.in_usd:
        return find_newest_in_usd(symbol.token_id, interval, before=before)
    candles = _read(symbol, interval, 0, before, 1)
    return int(candles[0]["t"].timestamp()) if candles else None


def _read(symbol: ChartSymbol, interval: CandleInterval, start: int, end: int, limit: int) -> Sequence[CandleJson]:
    candle_range = CandleRange(interval=interval, start=start, end=end, limit=limit)
    return fetch_candles(symbol.token_id, candle_range, in_usd=symbol.in_usd, fill=False)


def _volume(symbol: ChartSymbol, candle: CandleJson) -> float:
    """Return a candle's volume in USD, or in whole units of the paired token."""
    if symbol.in_usd:
        return float(candle["volumeUsd"] or 0)
    return float(int(candle["volumeQuote"]) / 10**symbol.quote_decimals)


def _price_scale(price: float | None) -> int:
    """Return 10 to the number of decimals that show a price to _PRICE_DIGITS."""
    if not price or price < 0:
        return int(10**_MOST_DECIMALS)
    decimals = min(max(_PRICE_DIGITS - 1 - floor(log10(price)), 2), _MOST_DECIMALS)
    return int("1" + "0" * decimals)
