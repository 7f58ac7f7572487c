"""Rolling sums over trades, and the last day's traders: new trades are added, and past minutes leave.

Callers hold the chain's lock, and have written trades and candles before. Each trade is added once.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.utils import timezone

from config.postgresql.bulk_load import array_literal, column_list, upsert_assignments
from tokens.models import RollingClock, RollingSum
from tokens.models.candle import DAY
from tokens.trades.opening_prices import (
    RollingPeriod,
    find_starting_prices,
    period_parameters,
    rolling_periods,
    set_openings,
)
from tokens.trades.trade_rows import STORED_VALUE, TradeRow
from tokens.trades.trending_score import decayed_net, score_at, score_part, trending_of

# The longest step by `roll`, so that its transaction is short after a pause.
_LONGEST_STEP = timedelta(minutes=10)
_DAY = timedelta(seconds=DAY)

_SUMS = ("volume_quote", "volume_usd", "buys", "sells", "traders", "trending")

_FROM_ROWS = """
    SELECT token_id, to_timestamp(unix_time) AS at, trader, is_buy, amount_quote, value_usd
    FROM unnest(
        %(tokens)s::bigint[], %(times)s::bigint[], %(traders)s::bytea[], %(sides)s::boolean[], %(amounts)s::numeric[],
        %(values)s::numeric[]
    ) AS new (token_id, unix_time, trader, is_buy, amount_quote, value_usd)
"""

# OFFSET 0, here and below, forces an index lookup per token. As a join, every thousand tokens would read all trades in
# the week, or all traders in the day.
_FROM_TRADES = f"""
    SELECT token_id, at, coalesce(trader, '') AS trader, is_buy, amount_quote,
        {STORED_VALUE} AS value_usd
    FROM unnest(%(token_ids)s::bigint[]) AS wanted (token_id) JOIN tokens_launchfacts AS launch USING (token_id)
    CROSS JOIN LATERAL (
        SELECT at, trader, is_buy, amount_quote, quote_usd FROM tokens_trade
        WHERE tokens_trade.token_id = wanted.token_id AND at >= %(since)s AND NOT is_conversion OFFSET 0
    ) AS trade
"""

_SCORE_AFTER_ADDING = trending_of(f"({score_at('old.trending', '%(now)s')} + gain.score)", "%(now)s")
_SCORE_AFTER_LEAVING = trending_of(f"({score_at('stored.trending', '%(now)s')} - coalesce(gone.score, 0))", "%(now)s")

# `net` has a row for each trader in the new trades, with the stored values; `gain` has the change in each period.
_ADD = f"""
    WITH traded AS ({{source}}),
    period AS (
        SELECT * FROM unnest(%(seconds)s::integer[], %(begins_at)s::timestamptz[]) AS period (seconds, begins_at)
    ),
    trade AS (
        SELECT traded.*, old.last_at AS old_at, old.net_usd AS old_net,
            greatest(old.last_at, max(at) OVER (PARTITION BY token_id, trader)) AS last_at
        FROM traded LEFT JOIN LATERAL (
            SELECT last_at, net_usd FROM tokens_recenttrader AS known
            WHERE known.token_id = traded.token_id AND known.trader = traded.trader OFFSET 0
        ) AS old ON true
    ),
    net AS (
        SELECT token_id, trader, old_at, old_net, last_at,
            coalesce({decayed_net("old_net", "extract(epoch FROM last_at - old_at)")}, 0) + coalesce(sum(
                {decayed_net("CASE WHEN is_buy THEN value_usd ELSE -value_usd END", "extract(epoch FROM last_at - at)")}
            ), 0) AS net_usd
        FROM trade GROUP BY token_id, trader, old_at, old_net, last_at
    ),
    stored_traders AS (
        INSERT INTO tokens_recenttrader (token_id, trader, last_at, net_usd)
        SELECT token_id, trader, last_at, net_usd FROM net
        ON CONFLICT (token_id, trader) DO UPDATE SET {upsert_assignments(["last_at", "net_usd"])}
    ),
    gain AS (
        SELECT token_id, seconds,
            count(*) FILTER (
                WHERE trader <> '' AND last_at >= begins_at AND (old_at IS NULL OR old_at < begins_at)
            ) AS traders,
            sum({score_part("net_usd", "%(now)s - extract(epoch FROM last_at)")}
                - coalesce({score_part("old_net", "%(now)s - extract(epoch FROM old_at)")}, 0)) AS score
        FROM net CROSS JOIN period GROUP BY token_id, seconds
    ),
    added AS (
        SELECT token_id, seconds, sum(amount_quote) AS volume_quote, coalesce(sum(value_usd), 0) AS volume_usd,
            count(*) FILTER (WHERE is_buy) AS buys, count(*) FILTER (WHERE NOT is_buy) AS sells
        FROM traded JOIN period ON at >= begins_at GROUP BY token_id, seconds
    )
    INSERT INTO tokens_rollingsum (token_id, seconds, {column_list(_SUMS)})
    SELECT token_id, seconds, added.volume_quote + coalesce(old.volume_quote, 0),
        added.volume_usd + coalesce(old.volume_usd, 0), added.buys + coalesce(old.buys, 0),
        added.sells + coalesce(old.sells, 0), gain.traders + coalesce(old.traders, 0),
        CASE WHEN seconds = {DAY} THEN {_SCORE_AFTER_ADDING} END
    FROM added JOIN gain USING (token_id, seconds) LEFT JOIN tokens_rollingsum AS old USING (token_id, seconds)
    ON CONFLICT (token_id, seconds) DO UPDATE SET {upsert_assignments(_SUMS)}
"""

# Constants for a period's minutes let the planner skip partitions.
_MINUTES_LEAVING = """
    SELECT {seconds} AS seconds, token_id, volume_quote, volume_usd, buys, sells FROM tokens_minutecandle
    WHERE at >= '{left_at}' AND at < '{begins_at}'
"""
_LEAVE = f"""
    WITH minute AS ({{minutes}}),
    past AS (
        SELECT token_id, seconds, sum(volume_quote) AS volume_quote, sum(volume_usd) AS volume_usd,
            sum(buys) AS buys, sum(sells) AS sells
        FROM minute JOIN tokens_token AS token ON token.id = token_id
        WHERE token.chain_id = %(chain_id)s GROUP BY token_id, seconds
    ),
    gone AS (
        SELECT token_id, seconds, count(*) FILTER (WHERE trader <> '') AS traders,
            sum({score_part("net_usd", "%(now)s - extract(epoch FROM last_at)")}) AS score
        FROM unnest(%(seconds)s::integer[], %(left_at)s::timestamptz[], %(begins_at)s::timestamptz[])
            AS period (seconds, left_at, begins_at)
        JOIN tokens_recenttrader ON last_at >= left_at AND last_at < begins_at GROUP BY token_id, seconds
    )
    UPDATE tokens_rollingsum AS stored SET volume_quote = stored.volume_quote - past.volume_quote,
        volume_usd = stored.volume_usd - past.volume_usd, buys = stored.buys - past.buys,
        sells = stored.sells - past.sells, traders = stored.traders - coalesce(gone.traders, 0),
        trending = CASE WHEN stored.seconds = {DAY} THEN {_SCORE_AFTER_LEAVING} END
    FROM past LEFT JOIN gone USING (token_id, seconds)
    WHERE stored.token_id = past.token_id AND stored.seconds = past.seconds
    RETURNING stored.token_id
"""
_FORGET_TRADERS = """
    DELETE FROM tokens_recenttrader USING tokens_token AS token
    WHERE token.id = token_id AND token.chain_id = %(chain_id)s AND last_at < %(since)s
"""


class Rolled(NamedTuple):
    """The minute up to which a chain's rolling sums have moved, and the tokens whose sums changed."""

    rolled_to: datetime
    token_ids: frozenset[int]


def add_trades(chain_id: int, rows: Sequence[TradeRow]) -> None:
    """Add new trades, in any sequence, to their traders and to the sums over their periods."""
    periods = rolling_periods(_read_clock(chain_id).rolled_to)
    oldest, latest = periods[-1].begins_at.timestamp(), periods[0].begins_at.timestamp()
    counted = [row for row in rows if not row.is_conversion and row.at >= oldest]
    with connection.cursor() as cursor:
        if counted:
            parameters: dict[str, Any] = {
                "tokens": [row.token_id for row in counted],
                "times": [row.at for row in counted],
                "traders": [row.trader or b"" for row in counted],
                "sides": [row.is_buy for row in counted],
                "amounts": [row.amount_quote for row in counted],
                "values": [row.value_usd for row in counted],
            }
            _execute_add(cursor, _FROM_ROWS, parameters, periods)
        # Conversions are in no sum, but move the price.
        late = {row.token_id for row in rows if row.at < latest}
        set_openings(cursor, chain_id, periods, {row.token_id for row in rows}, changed=late)


def recount(chain_id: int, token_ids: Collection[int]) -> None:
    """Compute the tokens' sums and traders anew, from trades in the last day.

    A trader's net then lacks older trades, which would have decayed to a sixteenth at most.
    """
    periods = rolling_periods(_read_clock(chain_id).rolled_to)
    parameters: dict[str, Any] = {"token_ids": array_literal(token_ids), "since": periods[-1].begins_at}
    with connection.cursor() as cursor:
        for table in ("tokens_rollingsum", "tokens_recenttrader"):
            cursor.execute(f"DELETE FROM {table} WHERE token_id = ANY(%(token_ids)s::bigint[])", parameters)
        _execute_add(cursor, _FROM_TRADES, parameters, periods)
        set_openings(cursor, chain_id, periods, token_ids, changed=())


def refresh_starting_prices(chain_id: int) -> set[int]:
    """Set starting prices again, by past rates that were stored since; return their tokens."""
    periods = rolling_periods(_read_clock(chain_id).rolled_to)
    with connection.cursor() as cursor:
        token_ids = find_starting_prices(cursor, chain_id, periods, is_rolled=False)
        set_openings(cursor, chain_id, periods, token_ids, changed=())
    return token_ids


def roll(chain_id: int, now: datetime) -> Rolled:
    """Move the end of a chain's periods towards the full minute before `now`, by ten minutes at most.

    After a pause longer than a day, the end moves there at once, because the minutes between may have been dropped. A
    clock that was turned back moves nothing.
    """
    clock = _read_clock(chain_id)
    minute = now.replace(second=0, microsecond=0)
    if minute <= clock.rolled_to:
        return Rolled(clock.rolled_to, frozenset())
    if minute - clock.rolled_to > _DAY:
        RollingClock.objects.filter(pk=chain_id).update(rolled_to=minute)
        summed = RollingSum.objects.filter(token__chain_id=chain_id, seconds=DAY)
        token_ids = frozenset(summed.values_list("token_id", flat=True))
        recount(chain_id, token_ids)
        return Rolled(minute, token_ids)
    rolled_to = min(minute, clock.rolled_to + _LONGEST_STEP)
    RollingClock.objects.filter(pk=chain_id).update(rolled_to=rolled_to)
    return Rolled(rolled_to, _leave(chain_id, rolling_periods(clock.rolled_to), rolling_periods(rolled_to)))


def _leave(chain_id: int, before: Sequence[RollingPeriod], periods: Sequence[RollingPeriod]) -> frozenset[int]:
    """Subtract what is between the former and the new beginnings of periods; return the tokens with other sums."""
    minutes = [
        _MINUTES_LEAVING.format(
            seconds=old.seconds, left_at=old.begins_at.isoformat(), begins_at=new.begins_at.isoformat()
        )
        for old, new in zip(before, periods, strict=True)
    ]
    parameters: dict[str, Any] = period_parameters(periods) | {
        "chain_id": chain_id,
        "left_at": [period.begins_at for period in before],
        "now": _unix_end(periods),
    }
    with connection.cursor() as cursor:
        cursor.execute(_LEAVE.format(minutes=" UNION ALL ".join(minutes)), parameters)
        token_ids = frozenset(token_id for (token_id,) in cursor.fetchall())
        cursor.execute(_FORGET_TRADERS, {"chain_id": chain_id, "since": periods[-1].begins_at})
        empty = "DELETE FROM tokens_rollingsum WHERE token_id = ANY(%s) AND buys + sells <= 0"
        cursor.execute(empty, [list(token_ids)])
        starting = find_starting_prices(cursor, chain_id, periods, is_rolled=True)
        set_openings(cursor, chain_id, periods, token_ids | starting, changed=token_ids)
    return token_ids | starting


def _execute_add(
    cursor: CursorWrapper, source: str, parameters: dict[str, Any], periods: Sequence[RollingPeriod]
) -> None:
    cursor.execute(_ADD.format(source=source), parameters | period_parameters(periods) | {"now": _unix_end(periods)})


def _unix_end(periods: Sequence[RollingPeriod]) -> float:
    """Return when the periods end, in Unix seconds: scores are compared at this time."""
    return periods[0].begins_at.timestamp() + periods[0].seconds


def _read_clock(chain_id: int) -> RollingClock:
    """Return the chain's clock; a new clock begins now."""
    now = timezone.now().replace(second=0, microsecond=0)
    return RollingClock.objects.get_or_create(chain_id=chain_id, defaults={"rolled_to": now})[0]
