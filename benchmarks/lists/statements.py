"""The SQL that the service sends for a request, and its cost in PostgreSQL."""

import time
from collections.abc import Mapping
from statistics import quantiles
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from psycopg import Connection


def get(parameters: Mapping[str, str], path: str = "/api/tokens") -> Any:
    """Return the service's own response to a GET.

    Raises RuntimeError where it is neither 200 nor 503.
    """
    answer = Client(SERVER_NAME="127.0.0.1").get(path, dict(parameters))
    if answer.status_code not in (200, 503):
        raise RuntimeError(f"{dict(parameters)}: {answer.status_code} {answer.content[:300]!r}")
    return answer


def page_statement(parameters: Mapping[str, str]) -> str:
    """Return the one statement that reads the page, as it was sent; the counts have others."""
    with CaptureQueriesContext(connection) as captured:
        get(parameters)
    # A page's statement is recognised by the one row more that it reads.
    limit = f"LIMIT {int(parameters.get('limit', 10)) + 1}"
    (statement,) = [query["sql"] for query in captured if limit in query["sql"]]
    return str(statement)


def statements_of(parameters: Mapping[str, str], path: str) -> list[str]:
    """Return a GET's statements, as they were sent."""
    with CaptureQueriesContext(connection) as captured:
        get(parameters, path)
    return [str(query["sql"]) for query in captured]


def deep_cursor(parameters: Mapping[str, str], *, rows: int) -> str:
    """Return the cursor after so many thousands of list rows."""
    cursor, step = "", 10_000
    for _ in range(rows // step):
        cursor = get({**parameters, "cursor": cursor, "limit": "10", "offset": str(step - 10)}).json()["cursor"]
    return cursor


def usual_times(statements: Mapping[str, tuple[Connection[Any], str]], *, rounds: int) -> dict[str, float]:
    """Return name -> seconds that each statement takes over its connection, all in turns.

    The lower quartile: whatever else the machine does makes times longer, and never shorter.
    """
    times: dict[str, list[float]] = {name: [] for name in statements}
    for number in range(rounds + 5):
        for name, (database, sql) in statements.items():
            started = time.perf_counter()
            database.execute(sql, prepare=False).fetchall()
            # The first rounds read the pages into memory.
            if number >= 5:
                times[name].append(time.perf_counter() - started)
    return {name: quantiles(spent)[0] for name, spent in times.items()}
