"""Markets of tokens with own trades: rows that lists and sorts read, computed from candles, sums and liquidity."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import connection
from django.utils import timezone

from config.postgresql.bulk_load import array_literal, column_types
from tokens.chains.addresses import address_key
from tokens.chains.registry.chains import ChainInfo
from tokens.models import Market, RecentTrader, RollingSum, Token
from tokens.models.candle import DAY
from tokens.models.expressions import equals_any
from tokens.models.market import MARKET_COLUMNS
from tokens.models.rolling_sum import ROLLING_PERIODS
from tokens.trades.opening_prices import STARTING_PRICE
from tokens.trades.pool_liquidity import TickRange, find_tick_ranges, pool_reserves
from tokens.trades.quote_rates import load_rates

# A market is priced anew when the rate of its quote token has changed by more.
_STALE_RATE = 0.01
# The most markets that are priced anew in a run.
MAX_REPRICED = 5_000
# Above every position of a chain.
_NEWEST = 2**63 - 1


class _MarketColumns(NamedTuple):
    """The columns of `Market` that follow from trades."""

    price_quote: Decimal | None = None
    last_position: int | None = None
    last_trade_at: datetime | None = None
    price_usd: float | None = None
    quote_price_usd: float | None = None
    market_cap: float | None = None
    volume_24h: float | None = None
    liquidity_usd: float | None = None
    tx_count_24h: int | None = None
    price_change_1h: float | None = None
    price_change_6h: float | None = None
    price_change_24h: float | None = None
    trending: float | None = None


_COLUMNS = _MarketColumns._fields


class _PoolFacts(NamedTuple):
    """What is known of a token's pool."""

    token_id: int
    address: str
    decimals: int
    supply: Decimal | None
    quote: str
    quote_decimals: int | None
    # The price after the last trade, or of the launch; None where neither is known.
    price: Decimal | None
    # The last trade or change of liquidity.
    last_position: int | None
    last_trade_at: datetime | None


class _Sums(NamedTuple):
    """The columns of `RollingSum` that a market is computed from."""

    volume_usd: Decimal | None
    buys: int
    sells: int
    opening_price: Decimal | None
    opening_usd: float | None
    trending: float | None


# The newest candle of a day has the price after the last trade, and remains when trades are dropped. The newest with
# volume has the day of the last trade that is no conversion.
_READ_POOLS = f"""
    SELECT token.id, contract_address, token.decimals, supply, paired_token,
        (launch.facts #>> '{{pool,pair_decimals}}')::integer, coalesce(candle.close, {STARTING_PRICE}),
        greatest(candle.last_position, (
            SELECT max(position) FROM tokens_poolliquiditychange AS change WHERE change.token_id = token.id
        )),
        traded.at
    FROM tokens_token AS token LEFT JOIN tokens_launchfacts AS launch ON launch.token_id = token.id
    LEFT JOIN LATERAL (
        SELECT close, last_position FROM tokens_candle
        WHERE token_id = token.id AND seconds = {DAY} ORDER BY at DESC LIMIT 1
    ) AS candle ON true
    LEFT JOIN LATERAL (
        SELECT at FROM tokens_candle
        WHERE token_id = token.id AND seconds = {DAY} AND buys + sells > 0 ORDER BY at DESC LIMIT 1
    ) AS traded ON true
    WHERE token.id = ANY(%s::bigint[])
"""
# `since` leaves out partitions when the statement is planned.
_READ_LAST_TRADES = """
    SELECT token_id, last.at FROM unnest(%(token_ids)s::bigint[], %(days)s::timestamptz[]) AS traded (token_id, day)
    JOIN LATERAL (
        SELECT at FROM tokens_trade AS trade
        WHERE trade.token_id = traded.token_id AND at >= %(since)s AND at >= day AND NOT is_conversion
        ORDER BY at DESC LIMIT 1
    ) AS last ON true
"""
_FIND_STALE = """
    SELECT token_id FROM tokens_market AS market
    JOIN tokens_token AS token ON token.id = token_id
    JOIN unnest(%(quotes)s::text[], %(rates)s::float8[]) AS rate (quote, usd) ON quote = paired_token
    WHERE chain_id = %(chain_id)s AND price_quote IS NOT NULL AND (
        quote_price_usd IS NULL OR abs(quote_price_usd - usd) > %(tolerance)s * usd
    )
    ORDER BY market_cap DESC NULLS LAST LIMIT %(limit)s
"""


def refresh_markets(chain: ChainInfo, token_ids: Collection[int]) -> int:
    """Compute the markets of tokens, and store those that have changed; return how many.

    Call it with the chain's lock, after candles, sums and liquidity are written.
    """
    if not token_ids:
        return 0
    pools = _read_pools(token_ids)
    sums = _read_sums(token_ids)
    ranges = find_tick_ranges(token_ids)
    quotes = {pool.quote for pool in pools}
    rates = load_rates(chain, quotes, ())
    quotes_usd = {quote: None if (usd := rates.usd_at(quote, _NEWEST)) is None else float(usd) for quote in quotes}
    markets = [
        _compute_market(
            pool,
            quote_usd=quotes_usd[pool.quote],
            sums=sums.get(pool.token_id, {}),
            ranges=ranges.get(pool.token_id),
            is_solana=chain.is_solana,
        )
        for pool in pools
    ]
    return _store_markets([pool.token_id for pool in pools], markets)


def find_stale_markets(chain: ChainInfo) -> list[int]:
    """Return tokens priced with a rate of their quote token that has changed by more than 1 %, the largest first."""
    tokens = Token.objects.listed().filter(chain_id=chain.chain_id).order_by()
    quotes = set(tokens.values_list("paired_token", flat=True).distinct())
    loaded = load_rates(chain, quotes, ())
    rates = {quote: usd for quote in quotes if (usd := loaded.usd_at(quote, _NEWEST)) is not None}
    with connection.cursor() as cursor:
        cursor.execute(
            _FIND_STALE,
            {
                "chain_id": chain.chain_id,
                "quotes": list(rates),
                "rates": [float(usd) for usd in rates.values()],
                "tolerance": _STALE_RATE,
                "limit": MAX_REPRICED,
            },
        )
        return [token_id for (token_id,) in cursor.fetchall()]


def reset_markets(token_ids: Collection[int]) -> None:
    """Reset the markets, rolling sums and traders of tokens that are launched in another pool now."""
    Market.objects.filter(pk__in=token_ids).update(**dict.fromkeys(MARKET_COLUMNS))
    RollingSum.objects.filter(token_id__in=token_ids).delete()
    RecentTrader.objects.filter(token_id__in=token_ids).delete()


def _read_sums(token_ids: Collection[int]) -> dict[int, dict[int, _Sums]]:
    """Return token -> seconds of a period -> its sums."""
    found: dict[int, dict[int, _Sums]] = defaultdict(dict)
    rows = RollingSum.objects.filter(equals_any("token_id", token_ids, array="bigint[]"))
    for token_id, seconds, *sums in rows.values_list("token_id", "seconds", *_Sums._fields):
        found[token_id][seconds] = _Sums(*sums)
    return found


def _read_pools(token_ids: Collection[int]) -> list[_PoolFacts]:
    with connection.cursor() as cursor:
        cursor.execute(_READ_POOLS, [array_literal(sorted(token_ids))])
        pools = [_PoolFacts(*row) for row in cursor.fetchall()]
        days = {pool.token_id: pool.last_trade_at for pool in pools if pool.last_trade_at is not None}
        if not days:
            return pools
        parameters: dict[str, Any] = {
            "token_ids": array_literal(days),
            "days": array_literal(days.values()),
            "since": min(days.values()),
        }
        cursor.execute(_READ_LAST_TRADES, parameters)
        last: dict[int, datetime] = dict(cursor.fetchall())
    # A trade that has been dropped since was on that day.
    return [pool._replace(last_trade_at=last.get(pool.token_id, pool.last_trade_at)) for pool in pools]


def _compute_market(
    pool: _PoolFacts,
    *,
    quote_usd: float | None,
    sums: Mapping[int, _Sums],
    ranges: Sequence[TickRange] | None,
    is_solana: bool,
) -> _MarketColumns:
    """Return a token's market. Unknown is None: all of it without a price, and USD without a rate of the quote."""
    if pool.price is None or pool.quote_decimals is None:
        return _MarketColumns(last_position=pool.last_position)
    price = float(pool.price)
    price_usd = cap = liquidity = None
    if quote_usd is not None:
        price_usd = price * quote_usd
        cap = None if pool.supply is None else price_usd * float(pool.supply.scaleb(-pool.decimals))
        if ranges is not None:
            liquidity = quote_usd * _liquidity_in_quote(pool, price, ranges, is_solana=is_solana)
    day = sums.get(DAY)
    changes = [_percent_change(price, price_usd, sums.get(seconds)) for seconds in ROLLING_PERIODS]
    return _MarketColumns(
        price_quote=pool.price,
        last_position=pool.last_position,
        last_trade_at=pool.last_trade_at,
        price_usd=price_usd,
        quote_price_usd=quote_usd,
        market_cap=cap,
        volume_24h=None if quote_usd is None else float(day.volume_usd or 0) if day else 0.0,
        liquidity_usd=liquidity,
        tx_count_24h=day.buys + day.sells if day else 0,
        price_change_1h=changes[0],
        price_change_6h=changes[1],
        price_change_24h=changes[2],
        trending=day.trending if day else None,
    )


def _percent_change(price: float, price_usd: float | None, sums: _Sums | None) -> float | None:
    """Return the change since the beginning of a period in percentage points: in USD, else in the quote token.

    A period without trades has none.
    """
    if sums is None:
        return 0.0
    opening = sums.opening_price
    if price_usd is not None and sums.opening_usd:
        return (price_usd / sums.opening_usd - 1) * 100
    return None if opening is None else (price / float(opening) - 1) * 100


def _liquidity_in_quote(pool: _PoolFacts, price: float, ranges: Sequence[TickRange], *, is_solana: bool) -> float:
    """Return the value of a pool's reserves, in whole units of the quote token."""
    quote_decimals = pool.quote_decimals or 0
    raw_price = price * 10.0 ** (quote_decimals - pool.decimals)
    if is_solana or address_key(pool.address) < address_key(pool.quote):
        token_units, quote_units = pool_reserves(ranges, raw_price)
    else:
        quote_units, token_units = pool_reserves(ranges, 1 / raw_price)
    return token_units / 10.0**pool.decimals * price + quote_units / 10.0**quote_decimals


def _store_markets(token_ids: Iterable[int], markets: Sequence[_MarketColumns]) -> int:
    """Store the markets of tokens that differ from the stored ones, in one statement; return how many."""
    types = column_types(Market, _COLUMNS)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE tokens_market AS market SET updated_at = %s, "
            f"{', '.join(f'{column} = new.{column}' for column in _COLUMNS)} "
            f"FROM unnest(%s::bigint[], {', '.join(f'%s::{types[column]}[]' for column in _COLUMNS)}) "
            f"AS new (token_id, {', '.join(_COLUMNS)}) WHERE market.token_id = new.token_id "
            f"AND ({', '.join(f'market.{column}' for column in _COLUMNS)}) "
            f"IS DISTINCT FROM ({', '.join(f'new.{column}' for column in _COLUMNS)})",
            [timezone.now(), array_literal(token_ids), *map(array_literal, zip(*markets, strict=True))],
        )
        changed: int = cursor.rowcount
    return changed
