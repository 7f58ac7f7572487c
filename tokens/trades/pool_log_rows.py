"""Trade and liquidity rows in pools, with their candles: added idempotently, and deleted."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.db.backends.utils import CursorWrapper

from config.postgresql.bulk_load import CopyText, array_literal, staging_table
from config.postgresql.partitions import ensure_partitions
from tokens.chains.pool_types import LiquidityChange, chain_position
from tokens.models.candle import DAY
from tokens.trades.candles import merge_candles, rebuild_touched
from tokens.trades.pool_tokens import PoolToken
from tokens.trades.retention import TRADE_TABLES, minutes_from, trades_from
from tokens.trades.trade_rows import TradeRow, address_bytes, transaction_bytes

_WEEK = timedelta(weeks=1)
_STAGED_TRADE = {
    "token_id": "bigint",
    # Unix seconds.
    "at": "bigint",
    "position": "bigint",
    "tx_hash": "bytea",
    "trader": "bytea",
    "is_buy": "boolean",
    "is_conversion": "boolean",
    "amount_token": "numeric",
    "amount_quote": "numeric",
    "price": "numeric",
    "quote_usd": "numeric",
    "value_usd": "numeric",
    "tx_index": "integer",
    "fee": "integer",
    "protocol_fee": "numeric",
    "token_fee": "numeric",
}

# OFFSET 0 forces one index lookup per token. ON CONFLICT would look up each trade, and take twice as long as the
# insertion. A staged trade alters the stored one if it adds a trader, a rate, an index or a fee, if its price differs,
# because liquidity that bounds it may have been read later, or if it is reported as conversion: versions before 0.3.0
# missed conversions through a router.
_DROP_STORED = """
WITH stored AS (
    SELECT token_id, at, position, trader, price, quote_usd, tx_index, protocol_fee, is_conversion
    FROM (SELECT DISTINCT token_id FROM staged_trade) AS staged
    CROSS JOIN LATERAL (
        SELECT at, position, trader, price, quote_usd, tx_index, protocol_fee, is_conversion FROM tokens_trade AS trade
        WHERE trade.token_id = staged.token_id AND at BETWEEN %(first_at)s AND %(last_at)s OFFSET 0
    ) AS trade
)
DELETE FROM staged_trade AS staged USING stored
WHERE staged.token_id = stored.token_id AND staged.position = stored.position AND to_timestamp(staged.at) = stored.at
RETURNING staged.token_id, staged.position, (stored.trader IS NULL AND staged.trader IS NOT NULL)
    OR (stored.tx_index IS NULL AND staged.tx_index IS NOT NULL)
    OR (stored.protocol_fee IS NULL AND staged.protocol_fee IS NOT NULL)
    OR (staged.is_conversion AND NOT stored.is_conversion)
    OR (staged.quote_usd IS NOT NULL AND staged.quote_usd IS DISTINCT FROM stored.quote_usd)
    OR staged.price <> stored.price
"""
_INSERT_TRADES = """
INSERT INTO tokens_trade (
    token_id, at, position, tx_hash, trader, is_buy, is_conversion, amount_token, amount_quote, price, quote_usd,
    tx_index, fee, protocol_fee, token_fee
)
SELECT token_id, to_timestamp(at), position, tx_hash, trader, is_buy, is_conversion, amount_token, amount_quote, price,
    quote_usd, tx_index, fee, protocol_fee, token_fee
FROM staged_trade
"""

# A batch read after all earlier blocks has their rates; the head's first blocks after a pause lacked them. The bounds
# let the planner skip partitions.
_ALTER_TRADES = """
WITH altered AS (
    UPDATE tokens_trade AS trade
    SET trader = COALESCE(trade.trader, read.trader), quote_usd = COALESCE(read.quote_usd, trade.quote_usd),
        price = read.price, tx_index = COALESCE(trade.tx_index, read.tx_index), fee = COALESCE(trade.fee, read.fee),
        protocol_fee = COALESCE(trade.protocol_fee, read.protocol_fee),
        token_fee = COALESCE(trade.token_fee, read.token_fee),
        is_conversion = trade.is_conversion OR read.is_conversion
    FROM unnest(%(tokens)s::bigint[], %(times)s::bigint[], %(positions)s::bigint[], %(traders)s::bytea[],
        %(prices)s::numeric[], %(rates)s::numeric[], %(tx_indexes)s::integer[], %(fees)s::integer[],
        %(protocol_fees)s::numeric[], %(token_fees)s::numeric[], %(conversions)s::boolean[])
        AS read (
            token_id, at, position, trader, price, quote_usd, tx_index, fee, protocol_fee, token_fee, is_conversion
        )
    WHERE trade.token_id = read.token_id AND trade.at = to_timestamp(read.at) AND trade.position = read.position
        AND trade.at BETWEEN %(first_at)s AND %(last_at)s
    RETURNING trade.token_id, date_trunc('day', trade.at, 'UTC') AS day
)
INSERT INTO touched SELECT token_id, day, day + interval '1 day', count(*) FROM altered GROUP BY token_id, day
RETURNING token_id
"""

_STAGED_LIQUIDITY = {
    "token_id": "bigint",
    "position": "bigint",
    "at": "bigint",
    "tick_lower": "integer",
    "tick_upper": "integer",
    "liquidity": "numeric",
    "tx_hash": "bytea",
    "tx_index": "integer",
    "trader": "bytea",
    "amount0": "numeric",
    "amount1": "numeric",
}
_INSERT_LIQUIDITY = """
INSERT INTO tokens_poolliquiditychange AS stored (
    token_id, position, at, tick_lower, tick_upper, liquidity, tx_hash, tx_index, trader, amount0, amount1
)
SELECT token_id, position, to_timestamp(at), tick_lower, tick_upper, liquidity, tx_hash, tx_index, trader, amount0,
    amount1
FROM staged_liquidity
ON CONFLICT (token_id, position) DO UPDATE SET tx_hash = EXCLUDED.tx_hash, tx_index = EXCLUDED.tx_index,
    trader = COALESCE(stored.trader, EXCLUDED.trader), amount0 = EXCLUDED.amount0, amount1 = EXCLUDED.amount1
    WHERE (stored.tx_index IS NULL AND EXCLUDED.tx_index IS NOT NULL)
        OR (stored.trader IS NULL AND EXCLUDED.trader IS NOT NULL)
        OR (stored.amount0 IS NULL AND EXCLUDED.amount0 IS NOT NULL)
RETURNING token_id
"""

_TOUCHED = """
CREATE TEMPORARY TABLE touched (token_id bigint, first_at timestamptz, end_at timestamptz, trades bigint) ON COMMIT DROP
"""
# A token's periods that share days become one, so that each trade counts once.
_TOUCH = """
INSERT INTO touched
SELECT token_id, lower(days), upper(days), 0
FROM (
    SELECT token_id, unnest(range_agg(tstzrange(
        date_trunc('day', first_at, 'UTC'), date_trunc('day', last_at, 'UTC') + interval '1 day'
    ))) AS days
    FROM unnest(%s::bigint[], %s::timestamptz[], %s::timestamptz[]) AS traded (token_id, first_at, last_at)
    GROUP BY token_id
) AS merged
"""
_DELETE_TRADES = """
WITH deleted AS (
    DELETE FROM tokens_trade AS log USING tokens_token AS token
    WHERE token.id = log.token_id AND token.chain_id = %(chain_id)s AND {selected}
    RETURNING log.token_id, date_trunc('day', log.at, 'UTC') AS day
)
INSERT INTO touched SELECT token_id, day, day + interval '1 day', count(*) FROM deleted GROUP BY token_id, day
"""
_DELETE_LIQUIDITY = """
DELETE FROM tokens_poolliquiditychange AS log USING tokens_token AS token
WHERE token.id = log.token_id AND token.chain_id = %(chain_id)s AND {selected}
RETURNING log.token_id
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class StagedTrades:
    """Trades that are within their retention at `now`, by token and position, and as COPY text."""

    now: datetime
    rows: dict[tuple[int, int], TradeRow]
    text: bytes

    def joined(self, other: "StagedTrades") -> "StagedTrades":
        """Return both sets together; no trade is in both."""
        return StagedTrades(now=self.now, rows=self.rows | other.rows, text=self.text + other.text)


@dataclass(frozen=True, kw_only=True, slots=True)
class AddedTrades:
    """New trades, and the tokens with altered trades."""

    rows: Sequence[TradeRow]
    altered: frozenset[int]


@dataclass(frozen=True, kw_only=True, slots=True)
class DeletedLogs:
    """Counts of deleted rows, and their token ids."""

    trades: int
    liquidity_changes: int
    token_ids: frozenset[int]


def stage_trades(rows: Iterable[TradeRow], *, now: datetime) -> StagedTrades:
    """Return the trades as `add_trades` takes them, without trades past their retention."""
    oldest = trades_from(now)
    since = oldest.timestamp() if oldest else 0
    unique = {(row.token_id, row.position): row for row in rows if row.at >= since}
    return StagedTrades(now=now, rows=unique, text="".join([_trade_line(row) for row in unique.values()]).encode())


def add_trades(staged: StagedTrades, *, merged: bool = True) -> AddedTrades:
    """Insert trades that are not stored yet.

    A stored trade takes a missing trader, index or fee from the row, and becomes a conversion if the row is one. The
    row's price and rate replace the stored ones. Candles follow with `merged`, else by `rebuild_candles`. Call it as
    the chain's only writer.
    """
    now, unique = staged.now, dict(staged.rows)
    if not unique:
        return AddedTrades(rows=(), altered=frozenset())
    times = {row.at for row in unique.values()}
    ensure_partitions(TRADE_TABLES, {_utc(day * DAY) for day in {at // DAY for at in times}}, now=now)
    bounds = {"first_at": _utc(min(times)), "last_at": _utc(max(times))}
    altered: list[TradeRow] = []
    with connection.cursor() as cursor:
        with staging_table(cursor, "staged_trade", _STAGED_TRADE, CopyText(tuple(_STAGED_TRADE), staged.text)):
            cursor.execute(_DROP_STORED, bounds)
            for token_id, position, is_altered in cursor.fetchall():
                row = unique.pop((token_id, position))
                if is_altered:
                    altered.append(row)
            if unique:
                cursor.execute(_INSERT_TRADES)
                if merged:
                    merge_candles(cursor, "staged_trade", minutes_from=minutes_from(now))
        altered_ids = _alter_trades(cursor, altered, bounds, now, merged=merged)
    return AddedTrades(rows=tuple(unique.values()), altered=altered_ids)


def rebuild_candles(traded: Sequence[tuple[int, datetime, datetime]], *, now: datetime) -> None:
    """Compute candles anew, for periods of (token id, first trade, last trade), from day to day.

    A token may have several periods.
    """
    oldest = trades_from(now)
    # Candles stay as they are after their trades are dropped.
    periods = [
        (token_id, max(first, oldest) if oldest else first, last)
        for token_id, first, last in traded
        if oldest is None or last >= oldest
    ]
    if not periods:
        return
    begin = max(min(first for _, first, _ in periods), minutes_from(now))
    end = max(last for _, _, last in periods)
    # A longer retention for minute candles may need older partitions.
    weeks = [begin + number * _WEEK for number in range((end - begin) // _WEEK + 1)]
    ensure_partitions(TRADE_TABLES, [*weeks, end], now=now)
    with connection.cursor() as cursor, _touched(cursor):
        cursor.execute(_TOUCH, [array_literal(column) for column in zip(*periods, strict=True)])
        rebuild_touched(cursor, minutes_from=minutes_from(now))


def add_liquidity_changes(changes: Iterable[tuple[PoolToken, LiquidityChange]]) -> list[int]:
    """Insert liquidity changes that are not stored yet; return their token ids.

    A stored change takes the transaction's index, hash and sender if it lacks them, and its token is returned, too.
    """
    lines = [_change_line(token.token_id, change) for token, change in changes]
    if not lines:
        return []
    rows = CopyText(tuple(_STAGED_LIQUIDITY), "".join(lines).encode())
    with connection.cursor() as cursor, staging_table(cursor, "staged_liquidity", _STAGED_LIQUIDITY, rows):
        cursor.execute(_INSERT_LIQUIDITY)
        return [token_id for (token_id,) in cursor.fetchall()]


def delete_blocks(chain_id: int, first: int, last: int, *, now: datetime) -> DeletedLogs:
    """Delete a chain's trades and liquidity changes in these blocks, and compute their candles anew."""
    bounds = {"first": chain_position(first, 0), "end": chain_position(last + 1, 0)}
    return _delete(chain_id, "log.position >= %(first)s AND log.position < %(end)s", bounds, now)


def delete_positions(chain_id: int, positions: Collection[int], *, now: datetime) -> DeletedLogs:
    """Delete a chain's trades and liquidity changes at these positions, and compute their candles anew."""
    return _delete(chain_id, "log.position = ANY(%(positions)s)", {"positions": list(positions)}, now)


def delete_tokens(chain_id: int, token_ids: Collection[int], *, now: datetime) -> DeletedLogs:
    """Delete all trades and liquidity changes of these tokens, and compute their candles anew."""
    return _delete(chain_id, "log.token_id = ANY(%(token_ids)s)", {"token_ids": list(token_ids)}, now)


def _delete(chain_id: int, selected: str, parameters: dict[str, Any], now: datetime) -> DeletedLogs:
    parameters = {"chain_id": chain_id, **parameters}
    with connection.cursor() as cursor:
        with _touched(cursor):
            cursor.execute(_DELETE_TRADES.format(selected=selected), parameters)
            cursor.execute("SELECT token_id, sum(trades)::bigint FROM touched GROUP BY token_id")
            trades: dict[int, int] = dict(cursor.fetchall())
            if trades:
                cursor.execute("SELECT DISTINCT first_at FROM touched")
                # A longer retention for minute candles may need older partitions.
                ensure_partitions(TRADE_TABLES, {day for (day,) in cursor.fetchall()}, now=now)
                rebuild_touched(cursor, minutes_from=minutes_from(now))
        cursor.execute(_DELETE_LIQUIDITY.format(selected=selected), parameters)
        changed = [token_id for (token_id,) in cursor.fetchall()]
    return DeletedLogs(
        trades=sum(trades.values()), liquidity_changes=len(changed), token_ids=frozenset({*trades, *changed})
    )


def _alter_trades(
    cursor: CursorWrapper, rows: Sequence[TradeRow], bounds: dict[str, datetime], now: datetime, *, merged: bool
) -> frozenset[int]:
    """Alter stored trades by these rows, as `add_trades` documents; return their token ids."""
    if not rows:
        return frozenset()
    parameters: dict[str, Any] = bounds | {
        "tokens": [row.token_id for row in rows],
        "times": [row.at for row in rows],
        "positions": [row.position for row in rows],
        "traders": [row.trader for row in rows],
        "prices": [row.price for row in rows],
        "rates": [row.quote_usd for row in rows],
        "tx_indexes": [row.tx_index for row in rows],
        "fees": [row.fee for row in rows],
        "protocol_fees": [row.protocol_fee for row in rows],
        "token_fees": [row.token_fee for row in rows],
        "conversions": [row.is_conversion for row in rows],
    }
    with _touched(cursor):
        cursor.execute(_ALTER_TRADES, parameters)
        token_ids = frozenset(token_id for (token_id,) in cursor.fetchall())
        if merged:
            rebuild_touched(cursor, minutes_from=minutes_from(now))
    return token_ids


@contextmanager
def _touched(cursor: CursorWrapper) -> Iterator[None]:
    """Create the temporary table with tokens and periods whose candles are computed anew."""
    cursor.execute(_TOUCHED)
    yield
    cursor.execute("DROP TABLE touched")


def _utc(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _trade_line(row: TradeRow) -> str:
    """Return the row in COPY's text format; fast, because a backfill writes millions."""
    trader = _null_or_bytes(row.trader)
    usd = r"\N" if row.quote_usd is None else row.quote_usd
    value = r"\N" if row.value_usd is None else row.value_usd
    return (
        f"{row.token_id}\t{row.at}\t{row.position}\t\\\\x{row.tx_hash.hex()}\t{trader}\t{row.is_buy}\t"
        f"{row.is_conversion}\t{row.amount_token}\t{row.amount_quote}\t{row.price!s}\t{usd!s}\t{value!s}\t"
        f"{_null_or(row.tx_index)}\t{_null_or(row.fee)}\t{_null_or(row.protocol_fee)}\t"
        f"{_null_or(row.token_fee)}\n"
    )


def _change_line(token_id: int, change: LiquidityChange) -> str:
    trader = None if change.trader is None else address_bytes(change.trader)
    return (
        f"{token_id}\t{chain_position(change.block_number, change.log_index)}\t{change.block_time}\t"
        f"{change.tick_lower}\t{change.tick_upper}\t{change.liquidity}\t"
        f"{_null_or_bytes(transaction_bytes(change.tx_hash))}\t{_null_or(change.tx_index)}\t"
        f"{_null_or_bytes(trader)}\t{_null_or(change.amount0)}\t{_null_or(change.amount1)}\n"
    )


def _null_or(value: int | None) -> str:
    return r"\N" if value is None else str(value)


def _null_or_bytes(value: bytes | None) -> str:
    return r"\N" if value is None else rf"\\x{value.hex()}"
