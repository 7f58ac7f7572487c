"""A read replica of the test's process, as READ_REPLICA_URL configures one for the service."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, connections
from django.db.backends.base.base import NO_DB_ALIAS

from config.postgresql.replica import REPLICA, ReplicaMonitor, monitor


@contextmanager
def replica_at(**parameters: Any) -> Iterator[None]:
    """Have a replica with the primary's connection parameters, except these, while the block runs."""
    of_primary = connection.settings_dict
    options = of_primary["OPTIONS"] | {"connect_timeout": 2}
    connections.settings[REPLICA] = of_primary | parameters | {"OPTIONS": options}
    # Django's test cases reject connections to databases that were added after they began, except with this alias.
    connections[REPLICA].alias = NO_DB_ALIAS
    # As in a new process.
    vars(monitor).update(vars(ReplicaMonitor()))
    try:
        yield
    finally:
        connections[REPLICA].close()
        del connections[REPLICA], connections.settings[REPLICA]
