"""Markets of tokens with own trades: rows that lists and sorts read, computed from candles, sums and liquidity."""

import math
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from django.db import connection
from django.utils import timezone

from config.postgresql.bulk_load import array_literal
from tokens.chains.registry.chains import ChainInfo
from tokens.installation.market_sources import has_own_trades
from tokens.models import Coverage, Market, RecentTrader, RollingSum, Token
from tokens.models.candle import DAY
from tokens.models.followed_chain import first_gapless_block
from tokens.models.market import MARKET_COLUMNS
from tokens.models.rolling_sum import ROLLING_PERIODS
from tokens.trades.curve_progress import CURVE_PROGRESS
from tokens.trades.opening_prices import STARTING_PRICE
from tokens.trades.pool_liquidity import HAS_SUPPORT, IS_CURRENCY0, IS_RESERVE_KNOWN, POOL_RESERVES
from tokens.trades.pool_tokens import find_tokens
from tokens.trades.quote_rates import QuoteRates, load_rates

# A market is priced anew when the rate of its quote token has changed by more.
_STALE_RATE = 0.01
# A launched token prices others while its pool can pay so many USD.
_LEAST_DEPTH = 10_000
# The most markets that are priced anew in a run.
MAX_REPRICED = 5_000
# Above every position of a chain.
_NEWEST = 2**63 - 1

# Period in seconds -> the column of `Market` with the change over it.
_CHANGES = dict(zip(ROLLING_PERIODS, ("price_change_1h", "price_change_6h", "price_change_24h"), strict=True))
# Of percentage points.
_CHANGE_DECIMALS = 6
# The columns of `Market` that follow from trades.
_COLUMNS = (
    "last_position", "price_quote", "last_trade_at", "price_usd", "quote_price_usd", "market_cap", "liquidity_usd",
    "volume_24h", "tx_count_24h", "trending", "curve_progress", *_CHANGES.values(),
)  # fmt: skip

# The day of the last trade that is no conversion.
_LAST_TRADED_DAY = f"""
    SELECT at FROM tokens_candle AS candle
    WHERE candle.token_id = token.id AND seconds = {DAY} AND buys + sells > 0 ORDER BY at DESC LIMIT 1
"""
_READ_QUOTES = f"""
    SELECT array_agg(DISTINCT paired_token), min(({_LAST_TRADED_DAY}))
    FROM tokens_token AS token WHERE id = ANY(%s::bigint[])
"""

# What is known of the pools of tokens. The newest candle of a day has the price after the last trade, and remains when
# trades are dropped; before the first trade the price is the launch's. A trade that was dropped was on its candle's
# day. `since` leaves out partitions when the statement is planned. OFFSET 0 has each value computed once.
_POOL = f"""
    SELECT token.id AS token_id, token.chain_id, contract_address, block_number, supply, rate.usd AS quote_usd,
        rate.depth AS quote_depth, candle.last_position, candle.close IS NOT NULL AS is_traded,
        coalesce(candle.close, {STARTING_PRICE}) AS price_quote,
        (launch.facts #>> '{{pool,tick}}')::integer AS starting_tick,
        10::float8 ^ token.decimals AS token_unit,
        10::float8 ^ (launch.facts #>> '{{pool,pair_decimals}}')::integer AS quote_unit,
        token.decimals, (launch.facts #>> '{{pool,pair_decimals}}')::integer AS quote_decimals,
        launch.facts ->> 'curve_config' AS curve_config,
        EXISTS (SELECT FROM tokens_market WHERE token_id = token.id AND graduated_at IS NOT NULL) AS is_graduated,
        %(is_solana)s OR {IS_CURRENCY0} AS is_currency0,
        coalesce(trade.at, traded.at) AS last_trade_at,
        token.block_number >= %(read_from)s AS is_history_read, 'infinity'::timestamptz AS until
    FROM tokens_token AS token LEFT JOIN LATERAL (
        SELECT facts FROM tokens_launchfacts WHERE token_id = token.id OFFSET 0
    ) AS launch ON true
    LEFT JOIN unnest(%(quotes)s::text[], %(rates)s::float8[], %(depths)s::float8[]) AS rate (quote, usd, depth)
        ON quote = paired_token
    LEFT JOIN LATERAL (
        SELECT close, last_position FROM tokens_candle AS candle
        WHERE candle.token_id = token.id AND seconds = {DAY} ORDER BY at DESC LIMIT 1
    ) AS candle ON true
    LEFT JOIN LATERAL ({_LAST_TRADED_DAY}) AS traded ON true
    LEFT JOIN LATERAL (
        SELECT at FROM tokens_trade AS trade
        WHERE trade.token_id = token.id AND trade.at >= traded.at AND trade.at >= %(since)s AND NOT is_conversion
        ORDER BY at DESC LIMIT 1
    ) AS trade ON true
    WHERE token.id = ANY(%(token_ids)s::bigint[]) OFFSET 0
"""
# Pools at their prices, with their reserves.
_HELD = f"""
    (SELECT *, price_quote::float8 AS price FROM ({_POOL}) AS pool OFFSET 0) AS pool
    CROSS JOIN LATERAL ({POOL_RESERVES}) AS reserves
"""
_READ_RESERVES = f"""
    SELECT contract_address, quote_reserve FROM {_HELD} WHERE {IS_RESERVE_KNOWN} AND price IS NOT NULL
"""


def _change(seconds: int) -> str:
    """Return the change since the beginning of a period in percentage points: in USD, else in the quote token.

    A period without trades has none, and a price without support has no change. Rounded: a price that returns would
    have changed by the error of binary fractions, -2.2e-14.
    """
    return f"""
        CASE WHEN NOT has_support THEN NULL WHEN count(*) FILTER (WHERE seconds = {seconds}) = 0 THEN 0
        ELSE round(max(CASE
            WHEN price * quote_usd IS NOT NULL AND opening_usd <> 0 THEN (price * quote_usd / opening_usd - 1) * 100
            ELSE (price / nullif(opening_price, 0)::float8 - 1) * 100
        END) FILTER (WHERE seconds = {seconds})::numeric, {_CHANGE_DECIMALS})::float8 END AS {_CHANGES[seconds]}
    """


# Without a price, nothing but the last position is known; without a rate of the quote token, nothing in USD.
_MARKETS = f"""
    SELECT pool.token_id, greatest(pool.last_position, reserves.last_position) AS last_position, priced.*,
        curve_progress
    FROM {_HELD}
    CROSS JOIN LATERAL ({CURVE_PROGRESS}) AS progress
    CROSS JOIN LATERAL (SELECT price * quote_usd * (supply::float8 / token_unit) AS full_value) AS valued
    CROSS JOIN LATERAL (SELECT {HAS_SUPPORT} AS has_support) AS supported
    LEFT JOIN LATERAL (
        SELECT price_quote, last_trade_at, price * quote_usd AS price_usd, quote_usd AS quote_price_usd,
            CASE WHEN has_support THEN full_value END AS market_cap,
            CASE WHEN in_quote IS NOT NULL
                THEN least(CASE WHEN has_support THEN in_quote ELSE quote_reserve END * quote_usd, quote_depth)
                END AS liquidity_usd,
            CASE WHEN quote_usd IS NOT NULL
                THEN coalesce(max(volume_usd) FILTER (WHERE seconds = {DAY}), 0)::float8 END AS volume_24h,
            coalesce(max(buys + sells) FILTER (WHERE seconds = {DAY}), 0) AS tx_count_24h,
            CASE WHEN quote_usd IS NOT NULL THEN max(trending) FILTER (WHERE seconds = {DAY}) END AS trending,
            {", ".join(map(_change, ROLLING_PERIODS))}
        FROM tokens_rollingsum AS sums WHERE sums.token_id = pool.token_id
    ) AS priced ON price IS NOT NULL AND quote_unit IS NOT NULL
"""
_STORE = f"""
    UPDATE tokens_market AS market
    SET updated_at = %(now)s, {", ".join(f"{column} = new.{column}" for column in _COLUMNS)}
    FROM ({_MARKETS}) AS new
    WHERE market.token_id = new.token_id AND ({", ".join(f"market.{column}" for column in _COLUMNS)})
        IS DISTINCT FROM ({", ".join(f"new.{column}" for column in _COLUMNS)})
"""
_FIND_STALE = """
    SELECT token_id FROM tokens_market AS market
    JOIN tokens_token AS token ON token.id = token_id
    LEFT JOIN unnest(%(quotes)s::text[], %(rates)s::float8[]) AS rate (quote, usd) ON quote = paired_token
    WHERE chain_id = %(chain_id)s AND price_quote IS NOT NULL AND (
        (quote_price_usd IS NULL) <> (usd IS NULL) OR abs(quote_price_usd - usd) > %(tolerance)s * usd
    )
    ORDER BY market_cap DESC NULLS LAST LIMIT %(limit)s
"""


class _QuoteRate(NamedTuple):
    """The USD for a whole quote token, and the most USD for which it can be sold."""

    usd: float
    depth: float


def refresh_markets(chain: ChainInfo, token_ids: Collection[int]) -> int:
    """Compute the markets of tokens, and store those that have changed; return how many.

    Call it with the chain's lock, after candles, sums and liquidity are written. Like each update of markets, it fires
    the trigger of `market_events.sql`, which stores `markets.changed`.
    """
    if not token_ids:
        return 0
    ids = array_literal(token_ids)
    with connection.cursor() as cursor:
        cursor.execute(_READ_QUOTES, [ids])
        quotes, since = cursor.fetchone()
        rates = _newest_rates(chain, quotes or [])
        pools = _pool_parameters(chain, token_ids, rates) | {"since": since or "infinity"}
        cursor.execute(_STORE, pools | {"now": timezone.now()})
        changed: int = cursor.rowcount
    return changed


def find_stale_markets(chain: ChainInfo) -> list[int]:
    """Return tokens priced with a rate of their quote token that has changed by more than 1 %, the largest first."""
    tokens = Token.objects.listed().filter(chain_id=chain.chain_id).order_by()
    rates = _newest_rates(chain, set(tokens.values_list("paired_token", flat=True).distinct()))
    with connection.cursor() as cursor:
        cursor.execute(
            _FIND_STALE,
            {
                "chain_id": chain.chain_id,
                "quotes": list(rates),
                "rates": [rate.usd for rate in rates.values()],
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


def _pool_parameters(chain: ChainInfo, token_ids: Collection[int], rates: Mapping[str, _QuoteRate]) -> dict[str, Any]:
    """Return the parameters of a statement about pools, which needs no time of a trade."""
    return {
        "token_ids": array_literal(token_ids),
        "since": "infinity",
        "quotes": list(rates),
        "rates": [rate.usd for rate in rates.values()],
        "depths": [rate.depth for rate in rates.values()],
        "is_solana": chain.is_solana,
        "read_from": _first_read_block(chain),
    }


def _first_read_block(chain: ChainInfo) -> int:
    """Return the block since which all trades and changes of liquidity are stored; one above all without any."""
    rows = Coverage.objects.filter(chain_id=chain.chain_id)
    live = [row.first_block for row in rows if row.last_block is None]
    return first_gapless_block(rows, before=max(live)) if live and has_own_trades(chain.chain_id) else _NEWEST


def _newest_rates(chain: ChainInfo, quotes: Collection[str]) -> dict[str, _QuoteRate]:
    """Return the rates of quote tokens, without those of launched tokens with too little depth."""
    rates = load_rates(chain, quotes, ())
    reserves = _read_reserves(chain, rates.quoted_in)
    return {
        quote: _QuoteRate(float(usd), depth)
        for quote in quotes
        if (usd := rates.usd_at(quote, _NEWEST)) is not None
        and (depth := _depth(quote, rates, reserves)) >= _LEAST_DEPTH
    }


def _depth(quote: str, rates: QuoteRates, reserves: Mapping[str, float]) -> float:
    """Return the least USD that the pools pay through which a quote token is sold; infinite where none is known."""
    depth = math.inf
    while quote in rates.quoted_in:
        sold, quote = quote, rates.quoted_in[quote]
        if sold in reserves:
            # Where the sold token has a rate, its quote token has one.
            depth = min(depth, reserves[sold] * float(rates.usd_at(quote, _NEWEST) or 0))
    return depth


def _read_reserves(chain: ChainInfo, addresses: Collection[str]) -> dict[str, float]:
    """Return launched token -> whole quote tokens in its pool, where the launch's liquidity is known. Two queries."""
    if not addresses:
        return {}
    tokens = find_tokens(chain, addresses).values()
    with connection.cursor() as cursor:
        cursor.execute(_READ_RESERVES, _pool_parameters(chain, [token.token_id for token in tokens], {}))
        return dict(cursor.fetchall())
