"""Read replica: which connection a read uses, and a monitor that skips a replica that is down or lags.

Reads use the replica only within `reading_replica`, which `config.api.replica_reads` enters for public reads.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections
from django.db.models import Model

from config.http.circuit_breaker import CircuitBreaker

logger = logging.getLogger(__name__)

# Key in DATABASES, if there is a replica.
REPLICA = "replica"
OPEN_SECONDS = 3.0
# Each process measures the lag at this interval.
_MEASURE_SECONDS = 1.0
# Older measurements are not trusted. After idle hours the last one is outdated until one thread has measured.
_TRUSTED_SECONDS = 5.0
# A replica that has replayed all durable transactions on the primary has no lag, however old the last one is. Both
# times are the primary's, so that no clock has to be right.
_PRIMARY = "SELECT pg_current_wal_flush_lsn(), clock_timestamp()"
_REPLAYED = """SELECT pg_is_in_recovery(), CASE WHEN pg_last_wal_replay_lsn() >= %s::pg_lsn THEN 0
    ELSE extract(epoch FROM %s::timestamptz - pg_last_xact_replay_timestamp())::float END"""

_reading: ContextVar[str] = ContextVar("reading", default=DEFAULT_DB_ALIAS)


class ReplicaRouter:
    """Database router: the replica for reads within `reading_replica`, the primary for all else."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str:
        """Return the database for the current block's reads."""
        return _reading.get()

    def db_for_write(self, model: type[Model], **hints: Any) -> str:
        """Return the primary, also for rows that were read from the replica."""
        return DEFAULT_DB_ALIAS

    def allow_relation(self, one: Model, other: Model, **hints: Any) -> bool:
        """Allow relations between rows of both: they are the same rows."""
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        """Migrate the primary only: the replica replays its changes."""
        return db == DEFAULT_DB_ALIAS


class ReplicaBehindError(Exception):
    """Raised where the replica may lack what the read needs: the primary repeats it."""


@contextmanager
def reading_replica() -> Iterator[None]:
    """Read from the replica while the block runs."""
    token = _reading.set(REPLICA)
    try:
        yield
    finally:
        _reading.reset(token)


def is_reading_replica() -> bool:
    """Return whether the current block reads from the replica."""
    return _reading.get() == REPLICA


def require_primary() -> None:
    """Leave a read to the primary. Raises ReplicaBehindError within `reading_replica`."""
    if is_reading_replica():
        raise ReplicaBehindError


def read_connection() -> Any:
    """Return the connection for reads in plain SQL."""
    return connections[_reading.get()]


@dataclass(frozen=True)
class ReplicaState:
    """Result of a measurement: the lag in seconds, or None if the replica did not respond or is none."""

    lag_seconds: float | None

    @property
    def status(self) -> str:
        """Return "ok", "lagging" or "failed"."""
        if self.lag_seconds is None:
            return "failed"
        return "ok" if self.lag_seconds <= settings.READ_REPLICA_MAX_LAG_SECONDS else "lagging"


def has_replica() -> bool:
    """Return whether READ_REPLICA_URL is set."""
    return REPLICA in connections.settings


def measure_replica() -> ReplicaState:
    """Measure the replica's lag now. Raises DatabaseError if the primary fails."""
    with connection.cursor() as primary:
        primary.execute(_PRIMARY)
        position = primary.fetchone()
    # A new connection, because an open one to a hung server would block for ever.
    fresh = connections[REPLICA].copy()
    try:
        with fresh.cursor() as cursor:
            cursor.execute(_REPLAYED, position)
            is_standby, lag = cursor.fetchone()
    except DatabaseError as error:
        logger.warning("The read replica failed: %s", error)
        return ReplicaState(None)
    finally:
        fresh.close()
    if not is_standby:
        # Promoted, it has a history of its own.
        logger.warning("READ_REPLICA_URL is not a standby server")
        return ReplicaState(None)
    # Without a replayed transaction since its start, the age is unknown.
    return ReplicaState(math.inf if lag is None else max(0.0, lag))


class ReplicaMonitor:
    """Replica state in this process: its lag, measured each second while there are reads, and its circuit."""

    def __init__(
        self, *, measure: Callable[[], ReplicaState] = measure_replica, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._measure_now = measure
        # Monotonic, in seconds.
        self._clock = clock
        self.circuit_breaker = CircuitBreaker(failure_limit=1, open_seconds=OPEN_SECONDS, probe_seconds=OPEN_SECONDS)
        self._measuring = threading.Lock()
        self._state = ReplicaState(None)
        self._measured_at = -math.inf

    def is_usable(self) -> bool:
        """Return whether to read from the replica."""
        if not has_replica() or not self.circuit_breaker.claim_call():
            return False
        # One thread measures, and the others use the last result meanwhile, unless it is too old.
        if self._clock() >= self._measured_at + _MEASURE_SECONDS and self._measuring.acquire(blocking=False):
            try:
                self._measure()
            finally:
                self._measuring.release()
        return self._state.status == "ok" and self._clock() < self._measured_at + _TRUSTED_SECONDS

    def record_failed_read(self, error: DatabaseError) -> None:
        """Open the circuit if the connection was lost; a single canceled statement is no replica failure."""
        if connections[REPLICA].is_usable():
            logger.info("The primary repeats a replica read: %s", error)
        else:
            connections[REPLICA].close()
            self._record_failure()

    def _measure(self) -> None:
        self._state = self._measure_now()
        self._measured_at = self._clock()
        if self._state.lag_seconds is None:
            self._record_failure()
        elif self.circuit_breaker.record_success():
            logger.info("The read replica responds again")

    def _record_failure(self) -> None:
        self._state = ReplicaState(None)
        if self.circuit_breaker.record_failure():
            logger.warning("The primary serves public reads; the replica is tried every %g s", OPEN_SECONDS)


# One per process.
monitor = ReplicaMonitor()
