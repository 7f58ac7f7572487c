"""Calls that are made at the same time, each in a thread with its own database connection."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection


def call_at_once(calls: Sequence[Callable[[], Any]], *, errors: tuple[type[Exception], ...] = ()) -> list[Any]:
    """Return the results of the calls in their order, in place of which errors of these types are returned."""
    barrier = threading.Barrier(len(calls), timeout=120)

    def make(call: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return call()
        except errors as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(make, calls))
