"""Launch outcomes: graduation, current and peak market cap, volume, and whether a token is still traded."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from config.postgresql.bulk_load import array_literal
from config.postgresql.replica import read_connection
from tokens.following.coverage import covers_trades
from tokens.installation.installed_registry import registry
from tokens.installation.market_sources import has_own_trades
from tokens.ledger.stored_blocks import HISTORY_NOT_READ, first_blocks
from tokens.models import Token
from tokens.models.candle import DAY
from tokens.trades.market_rows import STEPS

# A launch with a trade within this period counts as still traded.
TRADED_WITHIN = timedelta(days=7)
# USD up to which a peak counts without a check, as in markets.sql.
LEAST_CHECKED_CAP = 100_000

# Reasons for unknown facts.
NO_CURVE = "no_curve"
CURVE_UNKNOWN = "curve_unknown"
NO_OWN_TRADES = "no_own_trades"
NO_TRADES = "no_trades"
NO_PRICE = "no_price"
NO_LIQUIDITY = "no_liquidity"

# The highest price, volume and unpriced days, if all blocks since the launch are read. A day's candle has USD prices
# only if each of its trades has one. A price counts only as far as the pool's liquidity supports it as a market cap:
# what the ranges hold at that price, or a bonding curve at the day's end.
_READ_PEAKS = f"""
SELECT token_id, max(high_usd) FILTER (WHERE CASE
        WHEN full_value > {LEAST_CHECKED_CAP} THEN (
            SELECT has_support FROM ({STEPS["reserves"]}) AS reserves CROSS JOIN LATERAL ({STEPS["support"]}) AS support
        )
        ELSE true END),
    sum(volume_usd), count(*) - count(high_usd)
FROM (
    SELECT token_id, high_usd, volume_usd, high::float8 AS price, block_number, supply,
        10::float8 ^ token.decimals AS token_unit,
        10::float8 ^ (launch.facts #>> '{{pool,pair_decimals}}')::integer AS quote_unit,
        ({STEPS["side"]}) AS is_currency0,
        high_usd * (supply::float8 / 10::float8 ^ token.decimals) AS full_value,
        NULL::integer AS starting_tick, 'infinity'::float8 AS quote_depth, true AS is_traded,
        true AS is_history_read, at AS until
    FROM tokens_candle AS candle JOIN tokens_token AS token ON token.id = token_id
    LEFT JOIN tokens_launchfacts AS launch USING (token_id)
    WHERE token_id = ANY(%s::bigint[]) AND seconds = {DAY}
) AS pool GROUP BY token_id
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchOutcome:
    """Facts about a launch at a moment. An unknown fact is None, with a reason beside it."""

    age: timedelta
    is_graduated: bool | None
    graduation_reason: str
    graduated_at: datetime | None
    curve_progress: float | None
    market_cap: float | None
    # The highest daily price that liquidity supports, times the supply.
    peak_market_cap: float | None
    peak_reason: str
    volume_24h: float | None
    volume: float | None
    volume_reason: str
    last_trade_at: datetime | None
    is_still_traded: bool


class _Peak(NamedTuple):
    """Highest supported price and total volume in USD, and the number of days with a trade without a price."""

    highest: float | None
    volume: Decimal
    unpriced: int


def read_outcomes(tokens: Collection[Token], now: datetime) -> dict[int, LaunchOutcome]:
    """Return token id -> launch outcome, in at most four queries. Requires `market`."""
    since = first_blocks({token.chain_id for token in tokens}, covers_trades)
    with read_connection().cursor() as cursor:
        cursor.execute(_READ_PEAKS, [array_literal([token.pk for token in tokens])])
        peaks = {token_id: _Peak(*row) for token_id, *row in cursor.fetchall()}
    return {token.pk: _outcome(token, peaks.get(token.pk), since.get(token.chain_id), now) for token in tokens}


def _outcome(token: Token, peak: _Peak | None, since: int | None, now: datetime) -> LaunchOutcome:
    market = token.market
    reason = _trades_reason(token, peak, since)
    is_graduated, graduation_reason = _graduation(token)
    is_recent = market.last_trade_at is not None and market.last_trade_at >= now - TRADED_WITHIN
    supported = None if reason else peak
    highest = _highest_market_cap(token, supported)
    return LaunchOutcome(
        age=now - token.deployed_at,
        is_graduated=is_graduated,
        graduation_reason=graduation_reason,
        graduated_at=market.graduated_at,
        curve_progress=None if market.curve_progress is None else float(market.curve_progress),
        market_cap=market.market_cap,
        peak_market_cap=highest,
        peak_reason="" if highest is not None else reason or (NO_PRICE if token.supply is None else NO_LIQUIDITY),
        volume_24h=market.volume_24h,
        volume=float(supported.volume) if supported else None,
        volume_reason=reason,
        last_trade_at=market.last_trade_at,
        # The provider reports no last trade time, but counts a day's trades.
        is_still_traded=is_recent or bool(market.tx_count_24h),
    )


def _highest_market_cap(token: Token, peak: _Peak | None) -> float | None:
    """Return the highest market cap in USD; None if the price or the supply is unknown."""
    if peak is None or peak.highest is None or token.supply is None:
        return None
    return peak.highest * float(token.supply.scaleb(-token.decimals))


def _trades_reason(token: Token, peak: _Peak | None, since: int | None) -> str:
    """Return why facts that need all trades are unknown; empty if they are known."""
    if not has_own_trades(token.chain_id):
        return NO_OWN_TRADES
    if since is None or since > token.block_number:
        return HISTORY_NOT_READ
    if peak is None:
        return NO_TRADES
    return NO_PRICE if peak.unpriced else ""


def _graduation(token: Token) -> tuple[bool | None, str]:
    """Return whether the token has left its bonding curve, and why that is unknown if it is None."""
    chain, facts = registry().chains.get(token.chain_id), token.launch.facts if hasattr(token, "launch") else {}
    if chain is None or not (chain.is_solana or facts.get("curve_config")):
        return None, NO_CURVE
    if token.market.graduated_at is not None or token.market.curve_progress == 100:
        return True, ""
    # Events have the end of a declared curve, and not how far it is.
    return (None, CURVE_UNKNOWN) if chain.is_solana and token.market.curve_progress is None else (False, "")
