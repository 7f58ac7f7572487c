"""Market rows for tokens with own trades: computed by `markets.sql`, read by lists and sorts."""

import math
import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from django.db import connection
from django.utils import timezone

from config.postgresql.bulk_load import array_literal
from config.postgresql.sql_files import read_sql
from tokens.chains.registry.chains import ChainInfo
from tokens.installation.market_sources import has_own_trades
from tokens.models import Coverage, Market, RecentTrader, RollingSum, Token
from tokens.models.followed_chain import first_gapless_block
from tokens.models.market import MARKET_COLUMNS
from tokens.trades.pool_tokens import find_tokens
from tokens.trades.quote_rates import QuoteRates, load_rates

# A market is priced anew when its quote rate has changed by more than this share.
_STALE_RATE = 0.01
# USD that a launched token's pool must be able to pay, so that the token prices others.
_LEAST_DEPTH = 10_000
# Markets per run that are priced anew.
MAX_REPRICED = 5_000
# Above every position on a chain.
_NEWEST = 2**63 - 1

# `Market` columns computed from trades.
_COLUMNS = (
    "last_position", "price_quote", "last_trade_at", "price_usd", "quote_price_usd", "market_cap", "liquidity_usd",
    "volume_24h", "tx_count_24h", "trending", "curve_progress", "price_change_1h", "price_change_6h",
    "price_change_24h",
)  # fmt: skip

# The steps from tokens to `market`, and each step by its name, for statements about other rows.
MARKETS = read_sql("tokens/trades/markets.sql")
STEPS = {name: body for body, name in re.findall(r"LATERAL \(\n((?: {8}.*\n)+) {4}\) AS (\w+)", MARKETS)}
# The starting price for a row `token`; NULL without a launch tick.
STARTING_PRICE = f"""(
    SELECT starting.price FROM ({STEPS["launch"]}) AS launch CROSS JOIN LATERAL ({STEPS["starting"]}) AS starting
)"""

_READ_QUOTES = f"""
    SELECT array_agg(DISTINCT paired_token), min(({STEPS["last_traded_day"]}))
    FROM tokens_token AS token WHERE id = ANY(%s::bigint[])
"""
# `market` takes longer to parse than the other steps.
_WITHOUT_MARKET = MARKETS.partition(",\nmarket AS (")[0]
_READ_RESERVES = f"""{_WITHOUT_MARKET}
    SELECT contract_address, quote_reserve FROM supported WHERE is_reserve_known AND price IS NOT NULL
"""
_STORE = f"""{MARKETS}
    UPDATE tokens_market AS stored
    SET updated_at = %(now)s, {", ".join(f"{column} = new.{column}" for column in _COLUMNS)}
    FROM market AS new
    WHERE stored.token_id = new.token_id AND ({", ".join(f"stored.{column}" for column in _COLUMNS)})
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
    """USD per whole quote token, and the most USD for which it can be sold."""

    usd: float
    depth: float


def refresh_markets(chain: ChainInfo, token_ids: Collection[int]) -> int:
    """Compute the tokens' markets, and store the changed ones; return their number.

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
    """Return tokens with a quote rate that has changed by more than 1 % since they were priced, the largest first."""
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
    """Reset markets, rolling sums and traders after these tokens were launched in another pool."""
    Market.objects.filter(pk__in=token_ids).update(**dict.fromkeys(MARKET_COLUMNS))
    RollingSum.objects.filter(token_id__in=token_ids).delete()
    RecentTrader.objects.filter(token_id__in=token_ids).delete()


def _pool_parameters(chain: ChainInfo, token_ids: Collection[int], rates: Mapping[str, _QuoteRate]) -> dict[str, Any]:
    """Return the parameters for `markets.sql`, with `since` after every trade."""
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
    """Return the block since which all trades and liquidity changes are stored; above every block if none is."""
    rows = Coverage.objects.filter(chain_id=chain.chain_id)
    live = [row.first_block for row in rows if row.last_block is None]
    return first_gapless_block(rows, before=max(live)) if live and has_own_trades(chain.chain_id) else _NEWEST


def _newest_rates(chain: ChainInfo, quotes: Collection[str]) -> dict[str, _QuoteRate]:
    """Return quote rates, except for launched tokens with too little depth."""
    rates = load_rates(chain, quotes, ())
    reserves = _read_reserves(chain, rates.quoted_in)
    return {
        quote: _QuoteRate(float(usd), depth)
        for quote in quotes
        if (usd := rates.usd_at(quote, _NEWEST)) is not None
        and (depth := _depth(quote, rates, reserves)) >= _LEAST_DEPTH
    }


def _depth(quote: str, rates: QuoteRates, reserves: Mapping[str, float]) -> float:
    """Return the USD that the shallowest pool on the way to USD pays for a quote token; infinite if none is known."""
    depth = math.inf
    while quote in rates.quoted_in:
        sold, quote = quote, rates.quoted_in[quote]
        if sold in reserves:
            # If the sold token has a rate, its quote token has one.
            depth = min(depth, reserves[sold] * float(rates.usd_at(quote, _NEWEST) or 0))
    return depth


def _read_reserves(chain: ChainInfo, addresses: Collection[str]) -> dict[str, float]:
    """Return launched token -> whole quote tokens in its pool, if the pool's reserve is known. Two queries."""
    if not addresses:
        return {}
    tokens = find_tokens(chain, addresses).values()
    with connection.cursor() as cursor:
        cursor.execute(_READ_RESERVES, _pool_parameters(chain, [token.token_id for token in tokens], {}))
        return dict(cursor.fetchall())
