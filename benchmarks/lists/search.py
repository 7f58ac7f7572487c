"""Searches in the database and through HTTP.

    python -m benchmarks.lists.search [--count 1000000] [--rounds 3]

200 searches (`search_queries.py`), each with `total`, by `GET /api/tokens`: the time that all its statements take in
PostgreSQL, and through HTTP by the production server's command line without the public response cache, one at a time.
At first a frequent text's results are not counted, and `total` is an estimate; warm, a worker has counted
it within the last minute. The limits are for the latter; the table has both, by text kind.

Exits with code 1 where, warm, the 99th percentile is over 50 ms in the database or over 100 ms through HTTP, or where a
single search takes longer than 250 ms.
"""

import itertools
import socket
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

import django
from django.db import connection
from django.http import QueryDict

from benchmarks.harness import Limits, parse_quantities, print_table
from benchmarks.http_load import fetch, open_connection, percentile
from benchmarks.lists import dataset
from benchmarks.lists.search_queries import Query, make_queries
from benchmarks.lists.statements import get
from benchmarks.processes import web_server
from config.redis.connection import PREFIX, redis_client

# So many searches are counted and measured together: a count is kept for a minute.
_CHUNK = 10
_MEASURES = ("database, first contact", "database, warm", "HTTP, first contact", "HTTP, warm")

# Measure name -> text kind -> times in seconds.
Times = dict[str, dict[str, list[float]]]


def main() -> int:
    """Print all times; return 1 where one is beyond its limit."""
    options = parse_quantities(__doc__, count=1_000_000, rounds=3)
    dataset.open_server(options.count)
    django.setup()
    with dataset.connect(options.count) as database:
        queries = make_queries(database)
    times: Times = {name: defaultdict(list) for name in _MEASURES}
    slow: dict[str, float] = defaultdict(float)
    with web_server(dataset.environment(options.count), EDGE_CACHE_SECONDS="0") as port:
        client = open_connection(port)
        for query in queries:
            # Pages come into memory, and processes import and compile.
            _fetch(client, query)
            _database_time(query)
        for first in range(0, len(queries), _CHUNK):
            for name, query, spent in _measure(queries[first : first + _CHUNK], client, rounds=options.rounds):
                times[name][query.kind].append(spent)
                if name == "HTTP, warm":
                    address = urlencode(query.parameters)
                    slow[address] = max(slow[address], spent)
    limits = _report(times, slow)
    return 0 if limits.are_kept else 1


def _measure(queries: Sequence[Query], client: socket.socket, *, rounds: int) -> Iterator[tuple[str, Query, float]]:
    """Yield measure name, search, seconds."""
    _forget_totals()
    for _, query in itertools.product(range(rounds), queries):
        yield "database, first contact", query, _database_time(query)
        yield "HTTP, first contact", query, _fetch(client, query)
    _count_totals(queries)
    for _, query in itertools.product(range(rounds), queries):
        yield "database, warm", query, _database_time(query)
        yield "HTTP, warm", query, _fetch(client, query)


def _database_time(query: Query) -> float:
    """Return the seconds that PostgreSQL and the round trip take for the whole request."""
    spent = 0.0

    def measure(execute: Any, *arguments: Any) -> Any:
        nonlocal spent
        started = time.perf_counter()
        try:
            return execute(*arguments)
        finally:
            spent += time.perf_counter() - started

    with connection.execute_wrapper(measure):
        get(query.parameters)
    return spent


def _fetch(client: socket.socket, query: Query) -> float:
    spent, answer = fetch(f"/api/tokens?{urlencode(query.parameters)}", client)
    # A search that is given up has taken its time, which is over the limit.
    if answer[9:12] not in (b"200", b"503"):
        raise RuntimeError(f"{query.parameters}: {answer[:300]!r}")
    return spent


def _forget_totals() -> None:
    for key in redis_client().scan_iter(f"{PREFIX}total:*"):
        redis_client().delete(key)
    _await_next_second()


def _count_totals(queries: Sequence[Query]) -> None:
    """Do the worker's counting for these searches; here, so that it is done when this returns."""
    # Models need Django to be set up.
    from tokens.catalogue.totals import count_tokens

    selections = {_selection(query).identity_filters_only() for query in queries}
    selections |= {_selection(query) for query in queries if "X-Total-Approximate" in get(query.parameters).headers}
    for selection in selections:
        count_tokens(selection)
    _await_next_second()


def _selection(query: Query) -> Any:
    from config.api.query_parameters import parse_query
    from tokens.catalogue.list_parameters import ListQuery
    from tokens.catalogue.selections import Selection

    return Selection.of(parse_query(QueryDict(urlencode(query.filters)), ListQuery))


def _await_next_second() -> None:
    """Wait for the next second: each process reads a total from the cache at most once a second."""
    time.sleep(1.01)


def _report(times: Times, slow: dict[str, float]) -> Limits:
    rows: list[tuple[object, ...]] = []
    kinds = list(times[_MEASURES[0]])
    for kind in kinds:
        several = [sorted(times[name][kind]) for name in _MEASURES]
        rows.append((kind, *(f"{percentile(one, 50) * 1000:.1f} / {one[-1] * 1000:.1f}" for one in several)))
    together = {name: sorted(spent for kind in kinds for spent in times[name][kind]) for name in _MEASURES}
    for percent in (50, 99, 100):
        figures = (f"{percentile(together[name], percent) * 1000:.1f}" for name in _MEASURES)
        rows.append((f"all, {percent}th percentile", *figures))
    print_table(("median / slowest, ms", *_MEASURES), rows)
    print("The slowest through HTTP, warm:")
    for address, spent in sorted(slow.items(), key=lambda pair: -pair[1])[:20]:
        print(f"{spent * 1000:8.1f} ms  {address}")
    limits = Limits()
    limits.at_most("database, warm, 99th percentile", percentile(together["database, warm"], 99) * 1000, 50, "ms")
    limits.at_most("HTTP, warm, 99th percentile", percentile(together["HTTP, warm"], 99) * 1000, 100, "ms")
    limits.at_most("HTTP, warm, slowest", together["HTTP, warm"][-1] * 1000, 250, "ms")
    return limits


if __name__ == "__main__":
    sys.exit(main())
