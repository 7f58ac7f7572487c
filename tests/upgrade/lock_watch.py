"""Watch of the locks that migrations hold and wait for, by samples of pg_locks."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import psycopg

from tests.chaos.harness import repeatedly

_SAMPLE_SECONDS = 0.02
# Modes that block writes or reads of a table; the catalogue lacks tables that only their creator sees.
_HELD = """
SELECT pid, relname, mode FROM pg_locks JOIN pg_class ON pg_class.oid = relation
WHERE granted AND locktype = 'relation' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
AND relnamespace = 'public'::regnamespace AND pid <> pg_backend_pid()
"""
# Others wait for rows, leaders, or transactions before a concurrent build of an index ends: they block no table.
_WAITS = """
SELECT coalesce(max(extract(epoch FROM clock_timestamp() - waitstart)), 0)::float8 FROM pg_locks
WHERE NOT granted AND locktype = 'relation'
"""


@dataclass
class Locks:
    """The longest lock that blocks a table, with the table and its mode, and the longest wait for one, in seconds."""

    samples: int = 0
    longest_wait: float = 0.0
    longest: float = 0.0
    longest_of: str = ""


@contextmanager
def watch_locks(database_url: str) -> Iterator[Locks]:
    """Sample the locks of a database while the block runs; a lock may be two intervals longer than measured."""
    locks = Locks()
    with (
        psycopg.connect(database_url, autocommit=True) as connection,
        repeatedly(partial(_sample, connection, locks, {}), seconds=_SAMPLE_SECONDS),
    ):
        yield locks


def _sample(
    connection: "psycopg.Connection[tuple[Any, ...]]", locks: Locks, since: dict[tuple[Any, ...], float]
) -> None:
    """Update the locks; `since` has when each held one was seen first."""
    now, held = time.monotonic(), connection.execute(_HELD).fetchall()
    for key in since.keys() - set(held):
        del since[key]
    for key in held:
        seconds = now - since.setdefault(key, now)
        if seconds >= locks.longest:
            locks.longest, locks.longest_of = round(seconds, 2), f"{key[1]}: {key[2]}"
    (waited,) = connection.execute(_WAITS).fetchone() or (0.0,)
    locks.longest_wait = round(max(locks.longest_wait, waited), 2)
    locks.samples += 1
