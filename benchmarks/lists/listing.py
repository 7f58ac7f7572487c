"""List pages through HTTP, against a plain view and against PostgreSQL itself.

    python -m benchmarks.lists.listing [--count 1000000] [--rounds 3] [--seconds 5]

Ours is `GET /api/tokens`, ten rows with `total`, by the production server's command line: without the cache of public
answers, and with it. The plain view (`plain_view.py`) is the same table through a ModelSerializer and a
CursorPagination under the same command line; the floor is pgbench with our page's statement, prepared. All share
the machine with the clients and are measured in turns; the rounds' median counts. Our requests are counted
for the rate limit, which is too high to refuse any.

Exits with code 1 where ours is under 3 times the plain view or under 10 % of the floor without the cache, and with it
under 30 times the plain view or over 10 ms at the 99th percentile, or where a burst on one address runs more than one
page's query.
"""

import argparse
import sys
from collections.abc import Callable
from statistics import median
from threading import Barrier, Thread
from urllib.parse import urlencode

import django

from benchmarks.harness import Limits, parse_quantities, print_table
from benchmarks.http_load import Load, fetch, load, open_connection
from benchmarks.lists import dataset
from benchmarks.lists.floor import pgbench
from benchmarks.lists.statements import get, page_statement
from benchmarks.processes import web_server
from development.servers import bundled
from tests.processes.service_processes import service

PATH = "/api/tokens?limit=10"
PAGES = 200
BURST = 40


def main() -> int:
    """Print all rates and their ratios; return 1 where one is beyond its limit."""
    options = parse_quantities(__doc__, count=1_000_000, rounds=3, seconds=5.0)
    dataset.open_server(options.count)
    django.setup()
    limits = Limits()
    _measure_rates(options, limits)
    burst = _count_page_queries(options.count)
    limits.at_most(f"queries of the page for {BURST} requests at once", burst, 1, "queries")
    return 0 if limits.are_kept else 1


def _measure_rates(options: argparse.Namespace, limits: Limits) -> None:
    environment = dataset.environment(options.count)
    statement, pages = page_statement({"limit": "10"}), _walk()
    with (
        service("worker", environment),
        web_server(environment, EDGE_CACHE_SECONDS="0") as uncached,
        web_server(environment, EDGE_CACHE_SECONDS="2") as cached,
        web_server(
            environment, EDGE_CACHE_SECONDS="0", DJANGO_SETTINGS_MODULE="benchmarks.lists.plain_settings"
        ) as plain,
    ):
        subjects: dict[str, Callable[[], Load]] = {
            "ours": lambda: load(uncached, [PATH], seconds=options.seconds),
            f"ours, {PAGES} pages in turns": lambda: load(uncached, pages, seconds=options.seconds),
            "ours, from the cache": lambda: load(cached, [PATH], seconds=options.seconds),
            "plain view": lambda: load(plain, ["/api/tokens"], seconds=options.seconds),
        }
        # A process's first requests import and compile.
        for port in (uncached, cached, plain):
            load(port, [PATH], seconds=2)
        loads: dict[str, list[Load]] = {name: [] for name in subjects}
        floors = []
        for _ in range(options.rounds):
            for name, measure in subjects.items():
                loads[name].append(measure())
            floors.append(pgbench(statement, database=dataset.name(options.count), clients=4, seconds=options.seconds))
    _report(loads, median(floors), limits)


def _walk() -> list[str]:
    """Return the list's first page paths, one after the other."""
    paths, cursor = [PATH], ""
    while len(paths) < PAGES:
        cursor = get({"limit": "10", "cursor": cursor}).json()["cursor"]
        paths.append(f"{PATH}&{urlencode({'cursor': cursor})}")
    return paths


def _report(loads: dict[str, list[Load]], floor: float, limits: Limits) -> None:
    rates = {name: median(one.rate for one in several) for name, several in loads.items()}
    plain = rates["plain view"]
    rows: list[tuple[object, ...]] = []
    for name, several in loads.items():
        p50, p99 = (median(one.percentile(percent) for one in several) * 1000 for percent in (50, 99))
        rate = rates[name]
        rows.append((name, f"{rate:,.0f}", f"{p50:.2f}", f"{p99:.2f}", f"{rate / plain:.1f}", f"{rate / floor:.3f}"))
    rows.append(("pgbench (floor)", f"{floor:,.0f}", "", "", f"{floor / plain:.1f}", "1"))
    print_table(("", "requests/s", "p50, ms", "p99, ms", "plain view = 1", "floor = 1"), rows)
    limits.at_least("ours to the plain view", rates["ours"] / plain, 3)
    limits.at_least("ours to the floor", rates["ours"] / floor, 0.1)
    limits.at_least("from the cache to the plain view", rates["ours, from the cache"] / plain, 30)
    p99 = median(one.percentile(99) for one in loads["ours, from the cache"])
    limits.at_most("from the cache, 99th percentile", p99 * 1000, 10, "ms")


def _count_page_queries(count: int) -> int:
    """Return how often the page was read while many clients requested it at once for the first time.

    Source: PostgreSQL's own log.
    """
    log = bundled.local_directory() / "log" / "postgres.log"
    database = dataset.name(count)
    with dataset.connect("postgres") as connection:
        connection.execute(f"ALTER DATABASE {database} SET log_statement = 'all'")
        try:
            with web_server(dataset.environment(count), EDGE_CACHE_SECONDS="60") as port:
                begin = log.stat().st_size
                _burst(port, PATH)
        finally:
            connection.execute(f"ALTER DATABASE {database} RESET log_statement")
    with log.open("rb") as file:
        file.seek(begin)
        return file.read().count(b" LIMIT 11\n")


def _burst(port: int, path: str) -> None:
    start = Barrier(BURST)

    def run() -> None:
        connection = open_connection(port)
        start.wait()
        fetch(path, connection)
        connection.close()

    threads = [Thread(target=run) for _ in range(BURST)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    sys.exit(main())
