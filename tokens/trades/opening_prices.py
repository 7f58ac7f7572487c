"""Opening prices of rolling sums: the price of a token's pool at the beginning of a period."""

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
    """A period of rolling sums, from its beginning on."""

    seconds: int
    begins_at: datetime

    @property
    def day(self) -> datetime:
        """Return the beginning of the UTC day in which the period begins."""
        return self.begins_at.replace(hour=0, minute=0)


def rolling_periods(rolled_to: datetime) -> list[RollingPeriod]:
    """Return the periods that end at a full minute, the shortest first."""
    return [RollingPeriod(seconds, rolled_to - timedelta(seconds=seconds)) for seconds in ROLLING_PERIODS]


def period_parameters(periods: Sequence[RollingPeriod]) -> dict[str, Any]:
    """Return the parameters of statements about periods."""
    return {
        "seconds": [period.seconds for period in periods],
        "begins_at": [period.begins_at for period in periods],
        "days": [period.day for period in periods],
    }


# The newest trade before a period is one of the period's first day, or the last one of an earlier day, with the price
# of that day's candle: trades may be dropped after some days. A pool without an earlier trade has its starting price,
# in USD by the rate at the beginning of the period, or at a later launch; by that of its first trade where no reference
# pool has it. The bounds of `at` that are parameters leave out partitions when it is planned.
# A subquery for each row looks up each token in the indexes; a join would read whole tables.
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
    """Return the tokens with sums that open at the starting price.

    With `is_rolled`, only those with the rate at a beginning, which has moved, and not at their launch.
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
    """Set the opening prices of sums that have none yet, and of tokens with `changed` trades before a beginning.

    Starting prices are set again: their rates are others at a later beginning. Candles of days must have been written.
    """
    begins = [period.begins_at for period in periods]
    bounds = {"earliest": min(period.day for period in periods), "latest": max(begins)}
    tokens = {"token_ids": array_literal(token_ids), "changed": array_literal(changed)}
    rates = rate_parameters(registry().chains.get(chain_id))
    cursor.execute(_SET_OPENINGS, period_parameters(periods) | bounds | tokens | rates)
