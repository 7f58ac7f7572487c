"""List filters by trust, warnings, market and interface: what a request reads, and how long it takes.

    python -m benchmarks.lists.filters [--count 1000000] [--texts "" dog d "elon moon" 犬山] [--sorts 12]

`GET /api/tokens` with `total`, for each filter and combination, alone and with searches, by the sorts in both
directions, on the first page and behind 100,000 rows. Times are for the whole request in this process, without the
public response cache. The floor is the same request without the filter, in the same run.

It works on a copy of the `benchmarks.lists.dataset` database, in which 50 tokens are verified, 10,000 tokens have an
interface of their own and no market, and 2 % have a warning. Rows are those that the plans' scans visit in tables and
indexes, without request time limits, and depend on no other process: a scan of all tokens visits a million.

Exits with code 1 where a request is not answered.
"""

import argparse
import itertools
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import django

from benchmarks import results
from benchmarks.lists import dataset
from benchmarks.lists.search_queries import ORDERS
from benchmarks.lists.statements import deep_cursor, get
from benchmarks.tables import Limits, print_table
from config.redis.connection import PREFIX, redis_client
from tests.rows.query_plans import visited_rows

_SEARCHES = ("", "dog", "d", "elon moon", "犬山")
_DEPTH = 100_000
_TAGS = (
    # Without triggers, which would store an event for each token.
    "SET session_replication_role = replica",
    "UPDATE tokens_token SET verified = id % 20000 = 7, known_interface_deployer = false"
    " WHERE verified OR known_interface_deployer OR id % 20000 = 7",
    "UPDATE tokens_token SET launch_warnings = '{UNUSUAL_TICK}' WHERE id % 50 = 3 AND launch_warnings = '{}'",
    "SET session_replication_role = origin",
    """UPDATE tokens_token SET social_context = '{"interface": "Unmarketed"}' WHERE id % 100 = 11""",
    "UPDATE tokens_market SET market_cap = NULL, volume_24h = NULL, tx_count_24h = NULL, price_change_24h = NULL,"
    " price_change_1h = NULL WHERE token_id % 100 = 11",
    "VACUUM (ANALYZE) tokens_token, tokens_market, tokens_searchentry",
)
_LARGEST = "SELECT floor({0}) FROM tokens_market WHERE {0} IS NOT NULL ORDER BY {0} DESC OFFSET %s LIMIT 1"

Filters = Mapping[str, str]


@dataclass
class _Figures:
    seconds: list[float] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    # Statuses besides 200, and totals that are estimates.
    refused: int = 0
    estimates: int = 0


def main() -> int:
    """Print and keep each filter's figures; return 1 where a request is not answered."""
    options = _parse_arguments()
    database = f"filters_{options.count}"
    _prepare(options.count, database)
    django.setup()
    with dataset.connect(database) as opened:
        filters = _make_filters(opened)
    figures: dict[tuple[str, bool], _Figures] = defaultdict(_Figures)
    slowest: list[tuple[int, float, dict[str, str]]] = []
    for name, parameters in _requests(filters, options.texts, ORDERS[: options.sorts]):
        spent, rows, answer = _measure(parameters)
        found = figures[name, "q" in parameters]
        found.seconds.append(spent)
        found.rows.append(rows)
        found.refused += answer.status_code != 200
        found.estimates += "X-Total-Approximate" in answer.headers
        slowest.append((rows, spent, parameters))
    return _report(figures, slowest)


def _prepare(count: int, database: str) -> None:
    """Copy the tokens and tag them, unless this has been done."""
    dataset.open_server(count)
    with dataset.connect("postgres") as server:
        is_there = server.execute("SELECT FROM pg_database WHERE datname = %s", [database]).rowcount
    if not is_there:
        dataset.make_empty(f"{database}_loading", template=dataset.name(count))
        with dataset.connect(f"{database}_loading") as loading:
            for statement in _TAGS:
                loading.execute(statement)
        with dataset.connect("postgres") as server:
            server.execute(f"ALTER DATABASE {database}_loading RENAME TO {database}")
    os.environ["DATABASE_URL"] = dataset.database_url(database)


def _make_filters(database: Any) -> dict[str, Filters]:
    """Return name -> filters; the first is none, the floor."""

    def largest(column: str, place: int) -> str:
        (value,) = database.execute(_LARGEST.format(column), [place - 1]).fetchone()
        return str(int(value))

    verified, warned, clean = {"verified": "true"}, {"warnings": "any"}, {"warnings": "none"}
    cap, volume = {"minMarketCap": largest("market_cap", 3)}, {"minVolume24h": largest("volume_24h", 3)}
    broad = {"minMarketCap": "10000", "minVolume24h": "1000"}
    usual, rare = {"socialInterface": "bankr"}, {"socialInterface": "unmarketed"}
    return {
        "none (floor)": {},
        "verified: 50 tokens": verified,
        "warnings=any: 2 %": warned,
        "warnings=none": clean,
        "minMarketCap: 3 tokens": cap,
        "minMarketCap: 10,000 USD": {"minMarketCap": "10000"},
        "minVolume24h: 3 tokens": volume,
        "both least amounts": broad,
        "interface: 25 %": usual,
        "interface: 1 %, no markets": rare,
        "interface without markets, cap": rare | {"minMarketCap": "0"},
        "verified and 3 tokens": verified | cap,
        "warned and 3 tokens": warned | volume,
        "verified, interface, no warning": verified | usual | clean,
        "warned, interface without markets": warned | rare,
        "all five": verified | clean | broad | usual,
        "all five but verified": clean | broad | usual,
    }


def _requests(
    filters: Mapping[str, Filters], texts: Sequence[str], orders: Sequence[Filters]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield filter name and parameters, the filters in turns."""
    deep = {tuple(order.items()): deep_cursor(order, rows=_DEPTH) for order in orders}
    for q, order, is_deep in itertools.product(texts, orders, (False, True)):
        place = {"cursor": deep[tuple(order.items())]} if is_deep else {}
        searched = {"q": q} if q else {}
        for name, chosen in filters.items():
            yield name, {**chosen, **searched, **order, **place}


def _measure(parameters: Mapping[str, str]) -> tuple[float, int, Any]:
    """Return a request's seconds, the rows that its statements visit, and its answer; no count is cached."""
    for key in redis_client().scan_iter(f"{PREFIX}total:*"):
        redis_client().delete(key)
    # Before the measured request: this compiles the statements, and brings their pages into memory.
    rows = visited_rows(lambda: get(parameters))
    started = time.perf_counter()
    answer = get(parameters)
    spent = time.perf_counter() - started
    return spent, rows, answer


def _report(figures: Mapping[tuple[str, bool], _Figures], slowest: list[tuple[int, float, dict[str, str]]]) -> int:
    rows = []
    for (name, is_search), found in sorted(figures.items(), key=lambda item: item[0][1]):
        floor = median(figures["none (floor)", is_search].seconds)
        usual, longest = median(found.seconds), max(found.seconds)
        rows.append(
            (
                f"{name}{', search' if is_search else ''}",
                f"{usual * 1000:.1f}",
                f"{usual / floor:.2f}",
                f"{longest * 1000:.0f}",
                f"{longest / floor:.1f}",
                f"{median(found.rows):.0f}",
                max(found.rows),
                found.estimates,
                found.refused,
            )
        )
    head = ("filter", "ms", "floor = 1", "slowest", "floor = 1", "rows", "most", "estimated totals", "refused")
    print_table(head, rows)
    for rows_visited, spent, parameters in sorted(slowest, key=lambda each: -each[0])[:15]:
        print(f"{rows_visited:9,} rows {spent * 1000:8.1f} ms  {parameters}")
    results.keep("filters", {"head": head, "filters": rows})
    limits = Limits()
    limits.at_most("refused requests", sum(found.refused for found in figures.values()), 0, "")
    return 0 if limits.are_kept else 1


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the filters of the list.")
    parser.add_argument("--count", type=int, default=1_000_000, help="tokens in the database")
    parser.add_argument("--texts", nargs="+", default=_SEARCHES, help="searches; an empty one is none")
    parser.add_argument("--sorts", type=int, default=len(ORDERS), help="sorts and directions")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
