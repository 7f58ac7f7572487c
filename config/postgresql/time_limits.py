"""Time limits for what must be answered soon or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def limited(*, milliseconds: int) -> Iterator[None]:
    """A transaction whose statements, and their waits for locks, take no longer each. Raises DatabaseError then."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [str(milliseconds)])
        yield
