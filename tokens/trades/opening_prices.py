"""Opening prices for rolling sums: pool prices when a period begins."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.backends.utils import CursorWrapper

from config.postgresql.bulk_load import array_literal
from tokens.installation.installed_registry import registry
from tokens.models.candle import DAY
from tokens.models.rolling_sum import ROLLING_PERIODS
from tokens.trades.market_rows import STARTING_PRICE
from tokens.trades.quote_rates import rate_at, rate_parameters


class RollingPeriod(NamedTuple):
    """A rolling period: its length and its beginning."""

    seconds: int
    begins_at: datetime

    @property
    def day(self) -> datetime:
        """Return the UTC midnight before the period begins."""
        return self.begins_at.replace(hour=0, minute=0)


def rolling_periods(rolled_to: datetime) -> list[RollingPeriod]:
    """Return the periods that end at this full minute, the shortest first."""
    return [RollingPeriod(seconds, rolled_to - timedelta(seconds=seconds)) for seconds in ROLLING_PERIODS]


def period_parameters(periods: Sequence[RollingPeriod]) -> dict[str, Any]:
    """Return SQL parameters for these periods."""
    return {
        "seconds": [period.seconds for period in periods],
        "begins_at": [period.begins_at for period in periods],
        "days": [period.day for period in periods],
    }


# The opening price comes from the newest trade on the period's first day, else from the last earlier daily candle,
# because trades may be dropped after some days. A pool without an earlier trade opens at its starting price. Its USD
# price then uses the rate when the period begins, or at a later launch; without a reference pool, the first trade's
# rate. Parameters that bound `at` let the planner skip partitions. Subqueries look up each token in the indexes; a join
# would read whole tables.
_SET_OPENINGS = f"""
    UPDATE tokens_rollingsum AS sums SET (opening_price, opening_usd, opens_at_starting_price) = (
        SELECT coalesce(before.price, day.close, launched.price),
            CASE WHEN before.price IS NOT NULL THEN (before.price * before.quote_usd)::float8
                WHEN day.close IS NOT NULL THEN day.close_usd
                ELSE (launched.price * coalesce(launched.quote_usd, first.quote_usd))::float8 END,
            before.price IS NULL AND day.close IS NULL
        FROM unnest(%(seconds)s::integer[], %(begins_at)s::timestamptz[], %(days)s::timestamptz[])
            AS period (seconds, begins_at, day)
        LEFT JOIN LATERAL (
            SELECT price, quote_usd FROM tokens_trade AS trade
            WHERE trade.token_id = sums.token_id AND at >= period.day AND at < period.begins_at
                AND at >= %(earliest)s AND at < %(latest)s
            ORDER BY at DESC, position DESC LIMIT 1
        ) AS before ON true
        LEFT JOIN LATERAL (
            SELECT close, close_usd FROM tokens_candle AS candle
            WHERE before.price IS NULL AND candle.token_id = sums.token_id AND candle.seconds = {DAY}
                AND at < period.day
            ORDER BY at DESC LIMIT 1
        ) AS day ON true
        LEFT JOIN LATERAL (
            SELECT quote_usd FROM tokens_trade AS trade
            WHERE before.price IS NULL AND day.close IS NULL AND trade.token_id = sums.token_id
                AND at >= period.begins_at AND at >= %(earliest)s
            ORDER BY at, position LIMIT 1
        ) AS first ON true
        LEFT JOIN LATERAL (
            SELECT {STARTING_PRICE} AS price, {rate_at("greatest(period.begins_at, token.deployed_at)")} AS quote_usd
            FROM tokens_token AS token WHERE token.id = sums.token_id
        ) AS launched ON before.price IS NULL AND day.close IS NULL
        WHERE period.seconds = sums.seconds
    )
    WHERE token_id = ANY(%(token_ids)s::bigint[]) AND (
        opening_price IS NULL OR token_id = ANY(%(changed)s::bigint[]) OR opens_at_starting_price
    )
"""
_AT_STARTING_PRICE = """
    SELECT DISTINCT token_id FROM tokens_rollingsum JOIN tokens_token AS token ON token.id = token_id
    JOIN unnest(%(seconds)s::integer[], %(begins_at)s::timestamptz[]) AS period (seconds, begins_at) USING (seconds)
    WHERE opens_at_starting_price AND chain_id = %(chain_id)s AND (deployed_at < begins_at OR NOT %(is_rolled)s)
"""


def find_starting_prices(
    cursor: CursorWrapper, chain_id: int, periods: Sequence[RollingPeriod], *, is_rolled: bool
) -> set[int]:
    """Return the tokens whose sums open at the starting price.

    With `is_rolled`, leave out tokens launched later than the period began: their rate does not move with the period.
    """
    parameters = {"chain_id": chain_id, "is_rolled": is_rolled}
    cursor.execute(_AT_STARTING_PRICE, period_parameters(periods) | parameters)
    return {token_id for (token_id,) in cursor.fetchall()}


def set_openings(
    cursor: CursorWrapper,
    chain_id: int,
    periods: Sequence[RollingPeriod],
    token_ids: Collection[int],
    *,
    changed: Collection[int],
) -> None:
    """Set missing opening prices, and those for tokens with `changed` trades before a period.

    Starting prices are set again, because their rates change as a period moves. Daily candles must be written before.
    """
    begins = [period.begins_at for period in periods]
    bounds = {"earliest": min(period.day for period in periods), "latest": max(begins)}
    tokens = {"token_ids": array_literal(token_ids), "changed": array_literal(changed)}
    rates = rate_parameters(registry().chains.get(chain_id))
    cursor.execute(_SET_OPENINGS, period_parameters(periods) | bounds | tokens | rates)
