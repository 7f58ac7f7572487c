"""Reads at size, in PostgreSQL: trades, candles, market sorts, a sum roll; and the size on disk."""

import os
import time
from collections.abc import Mapping
from datetime import timedelta
from random import Random
from typing import Any

import django
from psycopg import Connection

from benchmarks.harness import Limits, print_table
from benchmarks.http_load import percentile
from benchmarks.lists import dataset
from benchmarks.lists.statements import page_statement, statements_of, usual_times
from benchmarks.trades import traded_tokens
from benchmarks.trades.stored_trades import make_trades

UNTRADED = "trades_untraded"
SORTS = ("market-cap", "tx-h24", "volume-h24", "price-percent-h24", "price-percent-h1")
# A token's requests: name, path, the table that the page's statement reads, limit in ms.
_PAGES = (
    ("last 50 trades", "trades", {"limit": "50"}, "tokens_trade", 3),
    ("500 candles of a minute", "candles", {"interval": "1m", "limit": "500"}, "tokens_minutecandle", 5),
    ("500 candles of 15 minutes", "candles", {"interval": "15m", "limit": "500"}, "tokens_minutecandle", None),
    ("500 candles of an hour", "candles", {"interval": "1h", "limit": "500"}, "tokens_candle", 5),
    ("500 candles of 4 hours", "candles", {"interval": "4h", "limit": "500"}, "tokens_candle", None),
)
# Tokens that are summed up at once, as by the follower.
_SUMMED = 1_000
_SIZES = """
SELECT (SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'tokens_trade'::regclass),
    (SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'tokens_minutecandle'::regclass),
    pg_total_relation_size('tokens_candle'), (SELECT count(*) FROM tokens_trade),
    (SELECT count(*) FROM tokens_minutecandle), (SELECT count(*) FROM tokens_candle),
    (SELECT count(*) FROM tokens_trade WHERE at >= (SELECT min(at) FROM tokens_minutecandle))
"""
_LAUNCHED = "SELECT min(deployed_at) FROM tokens_token"
_MARKET_COLUMNS = """
SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute
WHERE attrelid = 'tokens_market'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
"""


def measure_reads(*, trades: int, tokens: int, sampled: int, limits: Limits) -> dict[str, Any]:
    """Print the times and sizes at so many trades; return them."""
    database = f"trades_{trades}"
    with dataset.connect("postgres") as connection:
        is_there = connection.execute("SELECT FROM pg_database WHERE datname = %s", [database]).rowcount
    if not is_there:
        make_trades(database, trades=trades, tokens=tokens, weeks=8)
    os.environ["DATABASE_URL"] = dataset.database_url(database)
    django.setup()
    result = {"summed": _sum_up()}
    with dataset.connect(database) as connection:
        result |= {"pages": _measure_pages(connection, tokens, sampled, limits)}
        result |= {"sorts": _measure_sorts(connection, tokens, limits)}
        result |= {"roll": _measure_rolls(), "sizes": _measure_sizes(connection, limits)}
    return result


def _sum_up() -> dict[str, float]:
    """Compute all tokens' sums and markets, as at a historical sync's end."""
    from tokens.trades.trade_writing import find_traded_tokens, recount_tokens

    started = time.perf_counter()
    token_ids = [token.token_id for token in find_traded_tokens(traded_tokens.CHAIN_ID, 0, 2**40)]
    for start in range(0, len(token_ids), _SUMMED):
        recount_tokens(traded_tokens.CHAIN_ID, token_ids[start : start + _SUMMED])
    return {"tokens": len(token_ids), "seconds": round(time.perf_counter() - started, 1)}


def _measure_pages(
    connection: "Connection[Any]", tokens: int, sampled: int, limits: Limits
) -> dict[str, dict[str, float]]:
    """Time each page's statement, planned anew and with its pages in memory, for popular and other tokens."""
    random = Random("tokens")
    popular = {int((tokens + 1) ** random.random()) for _ in range(sampled // 2)}
    numbers = [*popular, *random.sample(range(1, tokens + 1), sampled // 2)]
    found, rows = {}, []
    for name, kind, parameters, table, limit in _PAGES:
        times = sorted(_page_time(connection, number, kind, parameters, table) for number in numbers)
        found[name] = {f"p{percent}_ms": round(1000 * percentile(times, percent), 2) for percent in (50, 99, 100)}
        rows.append((name, len(times), *found[name].values()))
        if limit:
            limits.at_most(f"{name}, p99 in PostgreSQL", found[name]["p99_ms"], limit, "ms")
    print_table(("of a token, ms in PostgreSQL", "tokens", "p50", "p99", "slowest"), rows)
    return found


def _page_time(
    connection: "Connection[Any]", number: int, kind: str, parameters: Mapping[str, str], table: str
) -> float:
    """Return the shortest of three times: with the pages in memory, and with the least other work on the machine."""
    path = f"/api/tokens/{traded_tokens.CHAIN_ID}/{traded_tokens.address(number)}/{kind}"
    (statement,) = [statement for statement in statements_of(parameters, path) if f'"{table}"' in statement]
    times = []
    for _ in range(4):
        started = time.perf_counter()
        # The rows are here when this returns, but not converted to Python's objects.
        connection.execute(statement, prepare=False)
        times.append(time.perf_counter() - started)
    return min(times[1:])


def _measure_sorts(connection: "Connection[Any]", tokens: int, limits: Limits) -> dict[str, dict[str, float]]:
    """Time list pages by market beside the same tokens and markets without any trade."""
    launched_at = connection.execute(_LAUNCHED).fetchall()[0][0]
    traded_tokens.make_database(UNTRADED, count=tokens, launched_at=launched_at)
    with dataset.connect(UNTRADED) as untraded:
        untraded.execute("TRUNCATE tokens_market")
        columns = connection.execute(_MARKET_COLUMNS).fetchall()[0][0]
        with (
            connection.cursor().copy(f"COPY tokens_market ({columns}) TO STDOUT") as rows,
            untraded.cursor().copy(f"COPY tokens_market ({columns}) FROM STDIN") as copied,
        ):
            for part in rows:
                copied.write(part)
        for one in (untraded, connection):
            one.execute("VACUUM (ANALYZE) tokens_market, tokens_token")
        found, rows_shown = {}, []
        for sort_by in SORTS:
            statement = page_statement({"sortBy": sort_by, "includeMarket": "true"})
            pair = {"traded": (connection, statement), "untraded": (untraded, statement)}
            found[sort_by] = {name: 1000 * spent for name, spent in usual_times(pair, rounds=200).items()}
            rows_shown.append((sort_by, *(f"{spent:.3f}" for spent in found[sort_by].values())))
    print_table(("sort, ms in PostgreSQL", "with trades", "without trades"), rows_shown)
    worst = max(times["traded"] / times["untraded"] for times in found.values())
    limits.at_most("a market sort to the one without trades, worst", worst, 1.3)
    return found


def _measure_rolls() -> dict[str, Any]:
    """Time the roll over some minutes, and the markets that change with each."""
    from django.db import transaction

    from tokens.installation.installed_registry import registry
    from tokens.models import RollingClock
    from tokens.trades.market_rows import refresh_markets
    from tokens.trades.rolling_sums import roll

    chain = registry().chains[traded_tokens.CHAIN_ID]
    found: dict[str, list[float]] = {"roll_ms": [], "markets_ms": [], "tokens": []}
    at = RollingClock.objects.get(pk=chain.chain_id).rolled_to
    for minute in range(1, 7):
        with transaction.atomic():
            started = time.perf_counter()
            rolled = roll(chain.chain_id, at + timedelta(minutes=minute))
            between = time.perf_counter()
            refresh_markets(chain, rolled.token_ids)
            ended = time.perf_counter()
        for name, value in zip(found, (between - started, ended - between, len(rolled.token_ids)), strict=True):
            found[name].append(round(1000 * value, 1) if name != "tokens" else value)
    print(f"rolls of a minute: {found}", flush=True)
    return found


def _measure_sizes(connection: "Connection[Any]", limits: Limits) -> dict[str, float]:
    """Return bytes on disk, with indexes, and print the growth."""
    trades, minutes, candles, trade_rows, minute_rows, candle_rows, minute_trades = connection.execute(
        _SIZES
    ).fetchall()[0]
    sizes = {
        "bytes_a_trade": float(trades / trade_rows),
        "bytes_a_candle": float((minutes + candles) / (minute_rows + candle_rows)),
        "minute_candles_a_trade": minute_rows / minute_trades,
        "other_candles_a_trade": candle_rows / trade_rows,
        "trades_mb_a_million": float(trades / trade_rows) * 1e6 / 2**20,
        "minutes_mb_a_million": float(minutes / minute_trades) * 1e6 / 2**20,
        "other_candles_mb_a_million": float(candles / trade_rows) * 1e6 / 2**20,
    }
    print_table(("size", ""), [(name, f"{value:.3g}") for name, value in sizes.items()])
    limits.at_most("bytes a trade, with indexes", sizes["bytes_a_trade"], 250, "bytes")
    return sizes
