"""Benchmark for pages far behind the first one, and in a large table.

    python -m benchmarks.lists.depth [--small 100000] [--large 1000000] [--rounds 200]

Page 1 against page 10,000, requested by a cursor, in the large table; and page 1 in the small table against page 1 in
the large one. For each sort in both directions by the time that PostgreSQL takes for the page's statement, and for the
default sort through HTTP, without the public response cache. All are measured in turns, and the lower quartile
counts: what else the machine does makes them longer, and never shorter.

Exits with code 1 where one in a pair takes more than 1.3 times as long as the other. With `includeMarket`, because
every sort then reads the same two tables.
"""

import argparse
import itertools
import sys
from collections.abc import Mapping
from statistics import quantiles
from urllib.parse import urlencode

import django
from django.db import connection

from benchmarks.harness import Limits, parse_quantities, print_table
from benchmarks.http_load import fetch, open_connection
from benchmarks.lists import dataset
from benchmarks.lists.statements import deep_cursor, page_statement, usual_times
from benchmarks.processes import web_server
from tests.processes.service_processes import service

SORTS = ("deployed-at", "market-cap", "tx-h24", "volume-h24", "price-percent-h24", "price-percent-h1")
DIRECTIONS = ("desc", "asc")
LIMIT = 1.3

Parameters = dict[str, str]


def main() -> int:
    """Print all times and their ratios; return 1 where one is beyond the limit."""
    options = parse_quantities(__doc__, small=100_000, large=1_000_000, rounds=200)
    dataset.open_server(options.large)
    dataset.prepare(options.small)
    django.setup()
    # Page 10,000 in a table that has it; in a smaller one, its middle.
    depth = min(100_000, options.large // 2 // 10_000 * 10_000)
    limits = Limits()
    deep = _measure_statements(options, depth, limits)
    _measure_http(options, deep, limits)
    return 0 if limits.are_kept else 1


def _measure_statements(options: argparse.Namespace, depth: int, limits: Limits) -> Parameters:
    """Check all sorts' statements; return the parameters for the default sort's deep page."""
    rows, ratios = [], []
    deepest: Parameters = {}
    with dataset.connect(options.small) as small, dataset.connect(options.large) as large:
        for sort_by, direction in itertools.product(SORTS, DIRECTIONS):
            first: Parameters = {"sortBy": sort_by, "sort": direction, "includeMarket": "true"}
            deep = first | {"cursor": deep_cursor(first, rows=depth)}
            deepest = deepest or deep
            statements = {
                "small": (small, _small_statement(options, first)),
                "first": (large, page_statement(first)),
                "deep": (large, page_statement(deep)),
            }
            times = usual_times(statements, rounds=options.rounds)
            pair = times["deep"] / times["first"], times["first"] / times["small"]
            ratios.append(pair)
            figures = (f"{times[name] * 1000:.3f}" for name in ("small", "first", "deep"))
            rows.append((f"{sort_by} {direction}", *figures, f"{pair[0]:.2f}", f"{pair[1]:.2f}"))
    head = (
        "sort, ms in PostgreSQL",
        f"page 1 of {options.small:,}",
        f"page 1 of {options.large:,}",
        f"page {depth // 10:,}",
        "deep to first",
        "large to small",
    )
    print_table(head, rows)
    limits.at_most("deepest page to the first, in PostgreSQL, worst sort", max(pair[0] for pair in ratios), LIMIT)
    limits.at_most("large table to the small, in PostgreSQL, worst sort", max(pair[1] for pair in ratios), LIMIT)
    return deepest


def _small_statement(options: argparse.Namespace, parameters: Parameters) -> str:
    """Return the statement as it is sent to the small table."""
    _use(options.small)
    try:
        return page_statement(parameters)
    finally:
        _use(options.large)


def _use(count: int) -> None:
    connection.close()
    connection.settings_dict["NAME"] = dataset.name(count)


def _measure_http(options: argparse.Namespace, deep: Parameters, limits: Limits) -> None:
    first = {name: value for name, value in deep.items() if name != "cursor"}
    with (
        service("worker", dataset.environment(options.large)),
        web_server(dataset.environment(options.small), EDGE_CACHE_SECONDS="0", WEB_WORKERS="1") as small,
        web_server(dataset.environment(options.large), EDGE_CACHE_SECONDS="0", WEB_WORKERS="1") as large,
    ):
        times = _fetch_in_turns(
            {"small": (small, first), "first": (large, first), "deep": (large, deep)}, rounds=options.rounds
        )
    rows = [(name, f"{spent * 1000:.2f}", f"{spent / times['first']:.2f}") for name, spent in times.items()]
    print_table(("page through HTTP", "ms", "page 1 of the large table = 1"), rows)
    limits.at_most("deepest page to the first, through HTTP", times["deep"] / times["first"], LIMIT)
    limits.at_most("large table to the small, through HTTP", times["first"] / times["small"], LIMIT)


def _fetch_in_turns(pages: Mapping[str, tuple[int, Parameters]], *, rounds: int) -> dict[str, float]:
    connections = {name: open_connection(port) for name, (port, _) in pages.items()}
    times: dict[str, list[float]] = {name: [] for name in pages}
    for number in range(rounds + 20):
        for name, (_, parameters) in pages.items():
            spent, answer = fetch(f"/api/tokens?{urlencode(parameters)}", connections[name])
            if answer[9:12] != b"200":
                raise RuntimeError(answer[:300].decode(errors="replace"))
            # A process's first requests import and compile.
            if number >= 20:
                times[name].append(spent)
    return {name: quantiles(spent)[0] for name, spent in times.items()}


if __name__ == "__main__":
    sys.exit(main())
