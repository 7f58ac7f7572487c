"""Timeouts for database statements and locks."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper


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
    """Limit the statements and the lock waits of the current transaction; 0 is no limit."""
    limits = "SELECT set_config('statement_timeout', %s, true), set_config('lock_timeout', %s, true)"
    cursor.execute(limits, [str(milliseconds), str(lock_milliseconds)])
