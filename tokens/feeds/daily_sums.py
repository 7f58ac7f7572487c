"""A chain's trade volume and fees on a UTC day by quote token, with the day's blocks."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from config.postgresql.replica import read_connection
from config.redis.single_flight import CacheTimes, fetch_shared
from tokens.chains.pool_types import chain_position
from tokens.chains.registry.chains import ChainInfo
from tokens.feeds import responses
from tokens.feeds.event_answers import decimal_text
from tokens.feeds.served_blocks import NotServedError, ServedBlocks, find_block_from
from tokens.trades.trade_rows import STORED_VALUE

# Incremented with every change of the cached value.
CACHE_VERSION = 3
_HOUR = 3600
# Verified days change only if an operator reads blocks again.
_CACHE_TIMES = CacheTimes(fresh=24 * _HOUR, ttl=48 * _HOUR, wait_timeout=15.0, lock_ttl=60.0)

# Trades in v4 and v2 pools store their fee. Other trades take the launch's fee until the token leaves its first pool.
# Launch fees in a v4 pool have a hook. The range of `at` excludes partitions; an index on positions finds the rows in
# the remaining ones.
_FEE = """COALESCE(trade.fee, CASE WHEN launch.facts #>> '{fees,type}' = 'static'
    AND launch.facts #>> '{fees,hook}' IS NULL AND NOT EXISTS (
        SELECT FROM tokens_tokenevent AS change WHERE change.token_id = trade.token_id
            AND change.kind = 'pool_changed' AND (change.block_number << 20 | change.log_index) <= trade.position
    ) THEN (launch.facts #>> '{fees,clanker_fee}')::numeric * 100 END)"""
_SUM_UP = """
    SELECT paired_token, max(pair), max(quote_decimals), count(*), count(*) FILTER (WHERE fee IS NULL),
        count(*) FILTER (WHERE value_usd IS NULL), sum(amount_quote),
        COALESCE(div(sum(amount_quote * fee), 1000000), 0), COALESCE(sum(value_usd), 0),
        COALESCE(sum(value_usd * fee) * 0.000001, 0)
    FROM (
        SELECT token.paired_token, token.pair, amount_quote, {fee} AS fee, {value} AS value_usd,
            (launch.facts #>> '{{pool,pair_decimals}}')::integer AS quote_decimals
        FROM tokens_trade AS trade
        JOIN tokens_token AS token ON token.id = trade.token_id
        JOIN tokens_launchfacts AS launch ON launch.token_id = trade.token_id
        WHERE token.chain_id = %(chain_id)s AND NOT is_conversion
            AND position >= %(first)s AND position < %(end)s AND at >= %(start_at)s AND at < %(end_at)s
    ) AS counted
    GROUP BY paired_token ORDER BY paired_token
"""


class DayNotServedError(Exception):
    """Raised for a day that is not complete or not stored any more, with the rule."""


def read_day(chain: ChainInfo, day: date, served: ServedBlocks) -> responses.Day:
    """Return the response body for a day, computed once a day for all callers.

    Raises DayNotServedError unless all the day's blocks are served and verified, NotServedError for a day without
    blocks, and NodeUnavailableError.
    """
    start = datetime.combine(day, time(), UTC)
    end = start + timedelta(days=1)
    if day >= datetime.now(UTC).date():
        raise DayNotServedError("must be a day that has ended in UTC")
    first, last = find_block_from(chain, start), find_block_from(chain, end) - 1
    if last < first:
        raise NotServedError("No block of this chain is of this day")
    if first < served.first:
        raise DayNotServedError(f"must begin at block {served.first} or later, the first with trades")
    if last > served.verified:
        raise DayNotServedError(f"must end at block {served.verified} or earlier, the last that is final and verified")
    name = f"feeds:day:{CACHE_VERSION}:{chain.chain_id}:{day}"
    described: responses.Day = fetch_shared(
        name, lambda: describe_day(chain, start, end, first, last), times=_CACHE_TIMES
    ).value
    return described


def sum_up_blocks(chain_id: int, start: datetime, end: datetime, first: int, last: int) -> Sequence[tuple[Any, ...]]:
    """Return trade sums by quote token for these blocks and times, sorted by quote token. One query."""
    values = {
        "chain_id": chain_id,
        "first": chain_position(first, 0),
        "end": chain_position(last + 1, 0),
        "start_at": start,
        "end_at": end,
    }
    with read_connection().cursor() as cursor:
        cursor.execute(_SUM_UP.format(fee=_FEE, value=STORED_VALUE), values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def describe_day(chain: ChainInfo, start: datetime, end: datetime, first: int, last: int) -> responses.Day:
    """Return the response body for the day between these times and blocks, without checks. One query."""
    rows = sum_up_blocks(chain.chain_id, start, end, first, last)
    quotes = [_describe_quote(row) for row in rows]
    return {
        "chainId": chain.chain_id,
        "day": start.date().isoformat(),
        "start": int(start.timestamp()),
        "end": int(end.timestamp()),
        "firstBlock": first,
        "lastBlock": last,
        "trades": sum(quote["trades"] for quote in quotes),
        "tradesWithoutFee": sum(quote["tradesWithoutFee"] for quote in quotes),
        "tradesWithoutUsd": sum(quote["tradesWithoutUsd"] for quote in quotes),
        "volumeUsd": _usd_text(sum((row[8] for row in rows), Decimal())),
        "feesUsd": _usd_text(sum((row[9] for row in rows), Decimal())),
        "quotes": quotes,
    }


def _describe_quote(row: tuple[Any, ...]) -> responses.QuoteDay:
    quote, symbol, decimals, trades, without_fee, without_usd, volume, fees, volume_usd, fees_usd = row
    return {
        "quote": quote,
        "symbol": symbol,
        "trades": trades,
        "tradesWithoutFee": without_fee,
        "tradesWithoutUsd": without_usd,
        "volume": decimal_text(int(volume), decimals),
        "fees": decimal_text(int(fees), decimals),
        "volumeUsd": _usd_text(volume_usd),
        "feesUsd": _usd_text(fees_usd),
    }


def _usd_text(value: Decimal) -> str:
    return format(value.quantize(Decimal("0.000001")), "f")
