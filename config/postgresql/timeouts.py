"""Timeouts for database statements and locks."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import OperationalError, connection, transaction
from django.db.backends.utils import CursorWrapper
from psycopg.errors import QueryCanceled

from config.postgresql.compiled_queries import CompiledQuery, parse_timestamps_in_c
from config.postgresql.replica import read_connection


class StatementTimeoutError(Exception):
    """Raised if PostgreSQL cancels a statement at its time limit."""


@contextmanager
def statement_timeout(*, milliseconds: int, lock_milliseconds: int = 0) -> Iterator[None]:
    """Open a transaction whose statements, including lock waits, take at most `milliseconds` each.

    `lock_milliseconds` limits each lock wait; 0 is no separate limit. Raises OperationalError after a
    timeout.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            limit_statements(cursor, milliseconds=milliseconds, lock_milliseconds=lock_milliseconds)
        yield


def limit_statements(cursor: CursorWrapper, *, milliseconds: int, lock_milliseconds: int) -> None:
    """Limit the current transaction's statements and lock waits; 0 is no limit."""
    limits = "SELECT set_config('statement_timeout', %s, true), set_config('lock_timeout', %s, true)"
    cursor.execute(limits, [str(milliseconds), str(lock_milliseconds)])


def fetch_before_deadline(
    statement: CompiledQuery, *, deadline: float, settings: Sequence[str] = ()
) -> list[tuple[Any, ...]]:
    """Fetch all rows from a read that PostgreSQL cancels at the deadline (monotonic clock).

    The time limit, further settings such as "enable_seqscan = off" and the statement are sent as one message, which
    PostgreSQL executes as one transaction. The settings end with it and cost no extra round trip. Raises
    StatementTimeoutError.
    """
    milliseconds = int((deadline - time.monotonic()) * 1000)
    if milliseconds < 1:
        raise StatementTimeoutError
    settings = (f"statement_timeout = {milliseconds}", *settings)
    preceding = "".join(f"SET LOCAL {setting}; " for setting in settings)
    with read_connection().cursor() as cursor:
        parse_timestamps_in_c(cursor)
        try:
            # Without the reset, a limit reached just after the last row would cancel the connection's next statement.
            cursor.execute(f"{preceding}{statement.sql}; SET LOCAL statement_timeout = 0", statement.parameters)
            for _ in settings:
                cursor.nextset()
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        except OperationalError as error:
            if isinstance(error.__cause__, QueryCanceled):
                raise StatementTimeoutError from error
            raise
    return rows
