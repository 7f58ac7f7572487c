"""Databases for test processes: copies of one migrated template, which transactional tests leave as they found them.

A migration takes seconds, a copy a tenth of one. Django's flush creates a file per table and makes all permissions
again, which takes a hundred times as long as a DELETE of a test's few rows.
"""

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection
from psycopg import sql

from config.environment.variables import BASE_DIR
from config.postgresql.partitions import list_partitions
from tests.processes.own_environment import database_url, environment_on, process_number

_PREFIX = "test_template_"
# What determines a migrated database's content; third-party migrations depend on the pinned versions.
_SOURCES = (
    "requirements.txt",
    "*/migrations/*.py",
    "config/*/migrations/*.py",
    "*/*/*.sql",
    "*/models/*.py",
    "accounts/operators/roles.py",
)
# An advisory lock with no other use.
_LOCK = 20_261_123
# The schema with copies of the tables that migrations fill.
_FILLED = "filled_by_migrations"


@cache
def template() -> str:
    """Return a migrated database's name without connections; create it if the migrations have changed."""
    name, draft = f"{_PREFIX}{_digest()}", f"{_PREFIX}draft"
    with psycopg.connect(database_url("postgres"), autocommit=True) as server:
        # Other test processes wait here, and then find the template.
        server.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        rows = server.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [_PREFIX])
        found = [row[0] for row in rows]
        if name not in found:
            for old in found:
                server.execute(_statement("DROP DATABASE {} WITH (FORCE)", old))
            server.execute(_statement("CREATE DATABASE {}", draft))
            _migrate(draft)
            # A killed process leaves a draft, never half a template.
            server.execute(_statement("ALTER DATABASE {} RENAME TO {}", draft, name))
    return name


@contextmanager
def own_database(source: str = "") -> Iterator[str]:
    """Copy a database for the block, by default the template, and return the copy's name."""
    name = f"test_own_{process_number()}"
    drop = _statement("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)
    with psycopg.connect(database_url("postgres"), autocommit=True) as server:
        server.execute(drop)
        server.execute(_statement("CREATE DATABASE {} TEMPLATE {}", name, source or template()))
        try:
            yield name
        finally:
            server.execute(drop)


def restore_template_rows() -> None:
    """Replace all rows of this process's database by the template's, and drop the partitions.

    Other tests would find the partitions by chance, and queries have other plans with them.
    """
    with connection.cursor() as cursor:
        for partition in list_partitions():
            cursor.execute(f"DROP TABLE {partition.name}")
        cursor.execute(_restoring_statements())


def _statement(text: str, *names: str) -> sql.Composed:
    return sql.SQL(text).format(*map(sql.Identifier, names))


def _digest() -> str:
    digest = hashlib.sha256(repr(settings.INSTALLED_APPS).encode())
    for path in sorted(path for pattern in _SOURCES for path in BASE_DIR.glob(pattern)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _migrate(database: str) -> None:
    """Apply all migrations, and copy the tables that they fill."""
    environment = environment_on(database) | {"SECRET_KEY": settings.SECRET_KEY}
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(command, cwd=BASE_DIR, env=environment, check=True)
    with psycopg.connect(database_url(database)) as migrated:
        migrated.execute(f"CREATE SCHEMA {_FILLED}")
        for table in _tables(migrated, "public"):
            if migrated.execute(f"SELECT FROM {table} LIMIT 1").rowcount:
                migrated.execute(f"CREATE TABLE {_FILLED}.{table} AS TABLE {table}")


def _tables(database: Any, schema: str) -> list[str]:
    """Return a schema's tables without partitions, which come and go."""
    rows = database.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind IN ('r', 'p')"
        " AND NOT relispartition",
        [schema],
    )
    return [name for (name,) in rows]


@cache
def _restoring_statements() -> str:
    with psycopg.connect(database_url(connection.settings_dict["NAME"])) as database:
        deletes = [f"DELETE FROM {table}" for table in _tables(database, "public")]
        inserts = [f"INSERT INTO {table} SELECT * FROM {_FILLED}.{table}" for table in _tables(database, _FILLED)]
    # Without triggers and foreign keys: all their tables are emptied in one transaction.
    return ";".join(["BEGIN", "SET LOCAL session_replication_role = replica", *deletes, *inserts, "COMMIT"])
