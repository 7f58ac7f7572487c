"""Time limits for what must be answered soon or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def limited(*, milliseconds: int, waiting: int = 0) -> Iterator[None]:
    """A transaction whose statements, and their waits for locks, take no longer each. Raises OperationalError then.

    `waiting` are milliseconds for the wait for each lock alone, 0 for no limit of its own.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            limits = "SELECT set_config('statement_timeout', %s, true), set_config('lock_timeout', %s, true)"
            cursor.execute(limits, [str(milliseconds), str(waiting)])
        yield
