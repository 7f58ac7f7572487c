"""Candles: folded from trades in SQL, merged with stored candles, and computed anew after deletions."""

from datetime import datetime

from django.db.backends.utils import CursorWrapper

from config.postgresql.bulk_load import column_list
from tokens.models.candle import DAY, HOUR
from tokens.trades.trade_rows import STORED_VALUE

# For each size, token and beginning identify a candle.
_COLUMNS = (
    "token_id", "at", "first_position", "last_position", "open", "high", "low", "close",
    "open_usd", "high_usd", "low_usd", "close_usd", "volume_quote", "volume_usd", "buys", "sells",
)  # fmt: skip

# All three sizes in one pass. The first trade has the smallest array and the last trade the largest, because arrays
# compare by their first different element: no aggregate has to sort its trades.
_FOLDED = """
SELECT token_id,
    CASE WHEN GROUPING(minute) = 0 THEN 60 WHEN GROUPING(hour) = 0 THEN 3600 ELSE 86400 END AS seconds,
    to_timestamp(COALESCE(minute, hour, day)) AS at,
    min(position) AS first_position, max(position) AS last_position,
    (min(mark))[2] AS open, max(price) AS high, min(price) AS low, (max(mark))[2] AS close,
    CASE WHEN count(usd) = count(*) THEN (min(mark))[3]::float8 END AS open_usd,
    CASE WHEN count(usd) = count(*) THEN max(usd)::float8 END AS high_usd,
    CASE WHEN count(usd) = count(*) THEN min(usd)::float8 END AS low_usd,
    CASE WHEN count(usd) = count(*) THEN (max(mark))[3]::float8 END AS close_usd,
    COALESCE(sum(amount_quote) FILTER (WHERE NOT is_conversion), 0) AS volume_quote,
    COALESCE(sum(value_usd) FILTER (WHERE NOT is_conversion), 0) AS volume_usd,
    count(*) FILTER (WHERE is_buy AND NOT is_conversion) AS buys,
    count(*) FILTER (WHERE NOT is_buy AND NOT is_conversion) AS sells,
    CASE WHEN GROUPING(hour) = 1 THEN sum(CASE WHEN is_buy THEN amount_quote ELSE -amount_quote END) END AS net_quote
FROM (
    SELECT *, at - at %% 60 AS minute, at - at %% 3600 AS hour, at - at %% 86400 AS day,
        price * quote_usd AS usd, ARRAY[position, price, price * quote_usd] AS mark
    FROM {trades} AS trade OFFSET 0
) AS marked
GROUP BY GROUPING SETS ((token_id, day), (token_id, day, hour), (token_id, day, hour, minute))
"""

_KNOWN = "stored.{price} IS NOT NULL AND EXCLUDED.{price} IS NOT NULL"
_FIRST = "EXCLUDED.first_position < stored.first_position"
_LAST = "EXCLUDED.last_position > stored.last_position"


def _merged() -> str:
    """Return assignments that merge a candle from other trades in the same period with the stored one."""
    columns: dict[str, str] = {}
    for suffix in ("", "_usd"):
        opened, high, low, close = (f"{price}{suffix}" for price in ("open", "high", "low", "close"))
        columns |= {
            opened: f"CASE WHEN {_FIRST} THEN EXCLUDED.{opened} ELSE stored.{opened} END",
            high: f"GREATEST(stored.{high}, EXCLUDED.{high})",
            low: f"LEAST(stored.{low}, EXCLUDED.{low})",
            close: f"CASE WHEN {_LAST} THEN EXCLUDED.{close} ELSE stored.{close} END",
        }
    for price in ("open_usd", "high_usd", "low_usd", "close_usd"):
        # GREATEST and LEAST ignore NULL.
        columns[price] = f"CASE WHEN {_KNOWN.format(price=price)} THEN {columns[price]} END"
    columns |= {
        "first_position": "LEAST(stored.first_position, EXCLUDED.first_position)",
        "last_position": "GREATEST(stored.last_position, EXCLUDED.last_position)",
    }
    columns |= {total: f"stored.{total} + EXCLUDED.{total}" for total in _COLUMNS[12:]}
    return ", ".join(f"{column} = {value}" for column, value in columns.items())


_INSERT = """
WITH folded AS MATERIALIZED ({folded}), minutes AS (
    INSERT INTO tokens_minutecandle AS stored ({columns})
    SELECT {columns} FROM folded WHERE seconds = 60 AND at >= %(minutes_from)s
    {minute_conflict}
)
INSERT INTO tokens_candle AS stored (seconds, {columns}, net_quote)
SELECT seconds, {columns}, net_quote FROM folded WHERE seconds > 60
{conflict}
"""
_ON_CONFLICT = "ON CONFLICT ({key}) DO UPDATE SET {merged}"

# Stored trades with the staging columns, by period. OFFSET 0 forces an index lookup per period; a join would read all
# of the token's trades.
_STORED_TRADES = f"""(
    SELECT stored.token_id, EXTRACT(EPOCH FROM stored.at)::bigint AS at, position, price, quote_usd, amount_quote,
        is_buy, is_conversion, {STORED_VALUE} AS value_usd
    FROM touched JOIN tokens_launchfacts AS launch USING (token_id) CROSS JOIN LATERAL (
        SELECT * FROM tokens_trade AS trade
        WHERE trade.token_id = touched.token_id
            AND trade.at >= touched.first_at AND trade.at < touched.end_at OFFSET 0
    ) AS stored
)"""

_DELETE = """
DELETE FROM {table} AS candle USING touched
WHERE candle.token_id = touched.token_id AND candle.at >= touched.first_at AND candle.at < touched.end_at {of_sizes}
"""


def merge_candles(cursor: CursorWrapper, trades: str, *, minutes_from: datetime) -> None:
    """Merge a staging table's trades into their periods' candles; no trade may be merged already.

    The table has `token_id`, `at` in Unix seconds, `position`, `price`, `quote_usd`, `value_usd`, `amount_quote`,
    `is_buy` and `is_conversion`. Minutes before `minutes_from` are not stored.
    """
    merged = _merged()
    _insert(
        cursor,
        trades,
        minutes_from,
        minute_conflict=_ON_CONFLICT.format(key="token_id, at", merged=merged),
        conflict=_ON_CONFLICT.format(
            key="token_id, seconds, at", merged=f"{merged}, net_quote = stored.net_quote + EXCLUDED.net_quote"
        ),
    )


def rebuild_touched(cursor: CursorWrapper, *, minutes_from: datetime) -> None:
    """Compute all candles in the periods of the temporary table `touched` anew, from stored trades.

    It has `token_id`, `first_at` and `end_at`; each period consists of whole UTC days.
    """
    # Otherwise the plan for some hundred tokens reads all candles.
    cursor.execute("SET LOCAL enable_seqscan TO off")
    cursor.execute(_DELETE.format(table="tokens_minutecandle", of_sizes=""))
    # Sizes are before times in the index.
    cursor.execute(_DELETE.format(table="tokens_candle", of_sizes=f"AND seconds IN ({HOUR}, {DAY})"))
    cursor.execute("SET LOCAL enable_seqscan TO DEFAULT")
    _insert(cursor, _STORED_TRADES, minutes_from)


def _insert(
    cursor: CursorWrapper, trades: str, minutes_from: datetime, *, minute_conflict: str = "", conflict: str = ""
) -> None:
    statement = _INSERT.format(
        folded=_FOLDED.format(trades=trades),
        columns=column_list(_COLUMNS),
        minute_conflict=minute_conflict,
        conflict=conflict,
    )
    cursor.execute(statement, {"minutes_from": minutes_from})
