"""Database schema state: extensions, migrations, and indexes that an interrupted command left invalid."""

import functools
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError
from django.db.backends.utils import CursorWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from psycopg import sql

# The search index needs these extensions; `migrate` creates them.
EXTENSIONS = ("btree_gin", "pg_trgm")

_INVALID_INDEXES = """
SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE NOT indisvalid AND relnamespace = 'public'::regnamespace ORDER BY 1
"""


def not_of_extension(catalog: str) -> sql.Composed:
    """Return the condition that a row of a catalog, such as pg_class, belongs to no extension."""
    return sql.SQL(
        "NOT EXISTS (SELECT FROM pg_depend WHERE classid = {}::regclass AND objid = {}.oid AND deptype = 'e')"
    ).format(catalog, sql.Identifier(catalog))


def server_major(cursor: CursorWrapper) -> int:
    """Return the server's major version."""
    cursor.execute("SHOW server_version_num")
    (number,) = cursor.fetchone()
    return int(number) // 10_000


def missing_extensions(cursor: CursorWrapper) -> list[str]:
    """Return the extensions that the database lacks."""
    cursor.execute("SELECT extname FROM pg_extension")
    installed = {name for (name,) in cursor.fetchall()}
    return [name for name in EXTENSIONS if name not in installed]


# The last commit with the single migrations that squashed ones replace, from version 0.1.0 on.
_LAST_UNSQUASHED = "8b0a410c"


@functools.cache
def _loader() -> MigrationLoader:
    return MigrationLoader(None)


@functools.cache
def known_migrations() -> frozenset[tuple[str, str]]:
    """Return (app, name) for every migration in this release."""
    return frozenset(_loader().graph.nodes)


def newer_migrations(applied: Iterable[tuple[str, str]]) -> list[str]:
    """Return the applied migrations, as "app.name", that this release neither has nor replaces."""
    replaced = {name for squashed in _loader().replacements.values() for name in squashed.replaces}
    return sorted(".".join(name) for name in set(applied) - known_migrations() - replaced)


def check_squashed_migrations(connection: Any) -> None:
    """Raise CommandError if a squashed migration replaces some applied migrations, but not all.

    Django would leave such a migration out, without an error: the single migrations are no longer in the tree.
    """
    applied = set(MigrationRecorder(connection).applied_migrations())
    for (app, name), squashed in _loader().replacements.items():
        replaced = set(squashed.replaces) - set(_loader().disk_migrations)
        if applied & replaced and replaced - applied:
            raise CommandError(
                f"The database has only some of the migrations that {app}.{name} replaces. First run manage.py migrate "
                f"of version 0.2.0, or of commit {_LAST_UNSQUASHED} if the database is newer: docs/running.md#upgrade."
            )


def applied_migrations(cursor: CursorWrapper) -> frozenset[tuple[str, str]]:
    """Return (app, name) for every applied migration. Raises ProgrammingError if the database was never migrated.

    Plain SQL, because Django's recorder queries the connection that is already open.
    """
    cursor.execute("SELECT app, name FROM django_migrations")
    return frozenset(cursor.fetchall())


def invalid_indexes(cursor: CursorWrapper) -> list[str]:
    """Return the names of invalid indexes: no query uses them, and each write still maintains them."""
    cursor.execute(_INVALID_INDEXES)
    return [name for (name,) in cursor.fetchall()]
