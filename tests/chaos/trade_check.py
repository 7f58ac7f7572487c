"""Check of trades, liquidity, candles, rolling sums and markets by plain SQL; a part of `independent_check`."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isclose, sqrt
from typing import Any

import psycopg

from tests.chaos.chain_trades import DAY, ChainTrade, ChainTrades, Row, TokenPool, fold, sum_up, value_of

_PERIODS = {"1h": 3600, "6h": 21_600, "24h": DAY}
# A market is priced anew when its quote token's rate has changed by more than 1 %.
_STALE_RATE = 0.0102

# Later columns replace earlier ones with the same name.
_TRADES = """
    SELECT trade.*, contract_address, extract(epoch FROM at)::bigint AS at,
        '0x' || encode(trade.tx_hash, 'hex') AS tx_hash, '0x' || encode(trader, 'hex') AS trader
    FROM tokens_trade AS trade JOIN tokens_token AS token ON token.id = token_id WHERE chain_id = %s
"""
_LIQUIDITY = """
    SELECT change.*, contract_address, extract(epoch FROM at)::bigint AS at
    FROM tokens_poolliquiditychange AS change JOIN tokens_token AS token ON token.id = token_id WHERE chain_id = %s
"""
_CANDLES = """
    SELECT candle.*, contract_address, extract(epoch FROM at)::bigint AS at
    FROM tokens_candle AS candle JOIN tokens_token AS token ON token.id = token_id WHERE chain_id = %s
"""
_MINUTES = """
    SELECT candle.*, contract_address, extract(epoch FROM at)::bigint AS at, 60 AS seconds
    FROM tokens_minutecandle AS candle JOIN tokens_token AS token ON token.id = token_id WHERE chain_id = %s
"""
_SUMS = """
    SELECT sums.*, contract_address
    FROM tokens_rollingsum AS sums JOIN tokens_token AS token ON token.id = token_id WHERE chain_id = %s
"""
_MARKETS = """
    SELECT market.*, contract_address, extract(epoch FROM last_trade_at)::bigint AS last_trade
    FROM tokens_market AS market JOIN tokens_token AS token ON token.id = token_id
    WHERE chain_id = %s AND NOT unindexed
"""
_CLOCK = "SELECT extract(epoch FROM rolled_to)::bigint AS rolled_to FROM tokens_rollingclock WHERE chain_id = %s"


@dataclass(frozen=True, eq=False)
class About:
    """A number that is rounded on its way, equal to every number near it."""

    value: float
    # The relative and the absolute distance.
    within: float = 1e-9
    at_most: float = 0.0

    def __eq__(self, other: object) -> bool:
        if other is None:
            return False
        return isclose(float(str(other)), self.value, rel_tol=self.within, abs_tol=self.at_most)


@dataclass
class TradeRows:
    """The database rows: by (token, position), by (token, seconds, beginning), and so on."""

    trades: dict[Any, Row] = field(default_factory=dict)
    liquidity: dict[Any, Row] = field(default_factory=dict)
    candles: dict[Any, Row] = field(default_factory=dict)
    sums: dict[Any, Row] = field(default_factory=dict)
    markets: dict[Any, Row] = field(default_factory=dict)
    # When the sums' periods end, in Unix seconds.
    rolled_to: int = 0


def read_trade_rows(connection: "psycopg.Connection[Row]", chain_id: int) -> TradeRows:
    """Read the chain's rows, including tokens that are no longer on the chain."""

    def read(query: Any, *keys: str) -> dict[Any, Row]:
        rows = connection.execute(query, [chain_id]).fetchall()
        return {tuple(row[key] for key in keys): row for row in rows}

    candles = ("contract_address", "seconds", "at")
    return TradeRows(
        trades=read(_TRADES, "contract_address", "position"),
        liquidity=read(_LIQUIDITY, "contract_address", "position"),
        candles=read(_CANDLES, *candles) | read(_MINUTES, *candles),
        sums=read(_SUMS, "contract_address", "seconds"),
        markets=read(_MARKETS, "contract_address"),
        rolled_to=next(row["rolled_to"] for row in connection.execute(_CLOCK, [chain_id])),
    )


def expect_rows(chain: ChainTrades, rows: TradeRows) -> TradeRows:
    """Return the rows that follow from the chain.

    A trader may be unknown to the rows, as log ranges don't have it; the sums count known ones. Rows of
    versions before 0.3.0 have neither the transaction's index nor the fee, and conversions through a router are trades.
    Where such a version ran, sums may begin at their first trade's rate, and trades have the rate of a launched
    quote token without its trades that were missing then.
    """
    known = {key for key, row in rows.trades.items() if row["trader"] is not None}
    former = {
        key: dict.fromkeys(("tx_index", "fee") if "fee" in row else ("tx_index",))
        for key, row in (rows.trades | rows.liquidity).items()
        if row["tx_index"] is None
    }
    if former:
        trades_of = chain.by_token()
        chain = replace(chain, trades=[_as_stored(trade, rows, chain, trades_of) for trade in chain.trades])
    sums = dict(_sums(chain, rows.rolled_to, known, rate_within=_STALE_RATE if former else 1e-9))
    trades = {(trade.token, trade.position): _trade(trade, known) for trade in chain.trades}
    return TradeRows(
        trades={key: row | former.get(key, {}) for key, row in trades.items()},
        liquidity={key: row | former.get(key, {}) for key, row in chain.liquidity.items()},
        candles=dict(fold(chain.trades)),
        sums=sums,
        markets={(token,): row for token, row in _markets(chain, rows, sums)},
    )


def _as_stored(
    trade: ChainTrade, rows: TradeRows, chain: ChainTrades, trades_of: Mapping[str, Sequence[ChainTrade]]
) -> ChainTrade:
    """Return the trade with what a version before 0.3.0 may have stored: no conversion, and a former rate."""
    row = rows.trades.get((trade.token, trade.position))
    if row is None:
        return trade
    shares = _former_shares(chain.pools[trade.token].quote, trade.position, trades_of, chain.pools)
    rate = float(trade.quote_usd or 0)
    if rate and any(About(rate * share, _STALE_RATE) == row["quote_usd"] for share in shares):
        value = value_of(trade.amount_quote, chain.pools[trade.token].quote_decimals, row["quote_usd"])
        trade = replace(trade, quote_usd=row["quote_usd"], value_usd=value)
    is_conversion = trade.is_conversion and (row["tx_index"] is not None or bool(row["is_conversion"]))
    return replace(trade, is_conversion=is_conversion)


def _former_shares(
    quote: str, position: int, trades_of: Mapping[str, Sequence[ChainTrade]], pools: Mapping[str, TokenPool]
) -> Iterator[float]:
    """Yield the rates of a quote token by each of its earlier trades, as a share of the rate at the position."""
    if quote not in pools:
        yield 1.0
        return
    prices = [float(trade.price) for trade in trades_of[quote] if trade.position < position]
    for share in _former_shares(pools[quote].quote, position, trades_of, pools):
        yield from (price / prices[-1] * share for price in prices)


def _trade(trade: ChainTrade, known: set[Any]) -> Row:
    names = (
        "at", "tx_hash", "is_buy", "is_conversion", "amount_token", "amount_quote", "price", "quote_usd", "tx_index",
        "fee",
    )  # fmt: skip
    trader = trade.trader if (trade.token, trade.position) in known else None
    return {name: getattr(trade, name) for name in names} | {"trader": trader}


def _sums(
    chain: ChainTrades, rolled_to: int, known: set[Any], *, rate_within: float
) -> Iterator[tuple[tuple[str, int], Row]]:
    for token, trades in chain.by_token().items():
        for seconds in _PERIODS.values():
            first = bisect_left([trade.at for trade in trades], rolled_to - seconds)
            row = sum_up(trades[first:])
            if row["buys"] + row["sells"]:
                demand = (trade for trade in trades[first:] if not trade.is_conversion)
                row["traders"] = len({trade.trader for trade in demand if (token, trade.position) in known})
                opening = _opening(chain, token, trades[:first], trades[first], rolled_to - seconds)
                if "opening_usd" in opening:
                    opening["opening_usd"] = replace(opening["opening_usd"], within=rate_within)
                yield (token, seconds), row | opening


def _opening(chain: ChainTrades, token: str, earlier: Sequence[ChainTrade], following: ChainTrade, begin: int) -> Row:
    """Return the price when a period begins; in USD where the quote token is no launched one."""
    pool = chain.pools[token]
    price: Any = earlier[-1].price if earlier else About(pool.starting_price)
    if pool.quote not in chain.rates:
        return {"opening_price": price}
    rate = chain.rate_at(pool.quote, max(begin, pool.launched_at)) or following.quote_usd
    usd = earlier[-1].price_usd if earlier else pool.starting_price * float(rate or 0)
    return {"opening_price": price, "opening_usd": About(usd or 0)}


def _markets(chain: ChainTrades, rows: TradeRows, sums: Mapping[Any, Row]) -> Iterator[tuple[str, Row]]:
    trades_of, ranges_of, positions = chain.by_token(), defaultdict(list), dict[str, int]()
    for (token, position), row in chain.liquidity.items():
        ranges_of[token].append((row["tick_lower"], row["tick_upper"], row["liquidity"]))
        positions[token] = max(position, positions.get(token, 0))
    for token, pool in chain.pools.items():
        trades = trades_of.get(token, [])
        demand = [trade.at for trade in trades if not trade.is_conversion]
        day = sums.get((token, DAY))
        market: Row = {
            "last_position": max([positions[token], *(trade.position for trade in trades[-1:])]),
            "last_trade": demand[-1] if demand else None,
        }
        if pool.quote in chain.rates or pool.quote in chain.pools:
            # Nobody trades for a token that was orphaned, and it may have no decimals.
            market["price_quote"] = trades[-1].price if trades else About(pool.starting_price)
            market["tx_count_24h"] = day["buys"] + day["sells"] if day else 0
        stored = rows.markets.get((token,), {}).get("quote_price_usd")
        if pool.quote in chain.rates:
            market["quote_price_usd"] = About(float(chain.rates[pool.quote]), _STALE_RATE)
            price = float(trades[-1].price) if trades else pool.starting_price
            market |= _in_usd(pool, price, stored or 0.0, ranges_of[token])
            market["volume_24h"] = About(float(day["volume_usd"]) if day else 0.0)
            market |= {
                f"price_change_{name}": _change(price * (stored or 0.0), sums.get((token, seconds)))
                for name, seconds in _PERIODS.items()
            }
        yield token, market


def _in_usd(pool: TokenPool, price: float, quote_usd: float, ranges: Sequence[tuple[int, int, int]]) -> Row:
    """Return the columns that follow from the rate that the market was priced with."""
    liquidity = _reserves(pool, price, ranges)
    usd = price * quote_usd
    return {
        "price_usd": About(usd),
        "market_cap": About(usd * pool.supply),
        "liquidity_usd": About(liquidity * quote_usd, 1e-6),
    }


def _reserves(pool: TokenPool, price: float, ranges: Sequence[tuple[int, int, int]]) -> float:
    """Return what the ranges hold, in whole quote tokens."""
    unit, quote_unit = 10.0**18, 10.0**pool.quote_decimals
    raw = price * quote_unit / unit
    root = sqrt(raw if pool.is_first else 1 / raw)
    held = [0.0, 0.0]
    for lower, upper, liquidity in ranges:
        low, high = 1.0001 ** (lower / 2), 1.0001 ** (upper / 2)
        here = min(max(root, low), high)
        held[0] += liquidity * (1 / here - 1 / high)
        held[1] += liquidity * (here - low)
    token, quote = held if pool.is_first else held[::-1]
    return token / unit * price + quote / quote_unit


def _change(price_usd: float, sums: Row | None) -> About:
    """Return percentage points since a period began; none without a trade in it."""
    if sums is None:
        return About(0.0)
    opening = sums["opening_usd"]
    ratio = price_usd / opening.value
    return About((ratio - 1) * 100, at_most=1e-6 + ratio * opening.within * 100)
