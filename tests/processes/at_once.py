"""Calls in threads, each with its own database connection, and the sessions that wait for a lock meanwhile."""

import functools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from django.db import connection

Given = ParamSpec("Given")
Result = TypeVar("Result")


def own_connection(call: Callable[Given, Result]) -> Callable[Given, Result]:
    """Return the call for another thread than the test's: it closes its thread's database connection."""

    @functools.wraps(call)
    def make(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        try:
            return call(*args, **kwargs)
        finally:
            connection.close()

    return make


def call_at_once(calls: Sequence[Callable[[], Any]], *, errors: tuple[type[Exception], ...] = ()) -> list[Any]:
    """Return the calls' results in order; errors with these types are returned instead."""
    barrier = threading.Barrier(len(calls), timeout=120)

    @own_connection
    def make(call: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return call()
        except errors as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(make, calls))


def blocked_sessions() -> int:
    """Return how many sessions in this database wait for a lock."""
    with connection.cursor() as cursor:
        # Within a transaction the server returns the same statistics until the snapshot is cleared.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            " AND backend_type = 'client backend'"
        )
        return int(cursor.fetchone()[0])
