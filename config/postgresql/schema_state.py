"""Database schema state: extensions, migrations, and indexes that an interrupted command left invalid."""

import functools

from django.db.backends.utils import CursorWrapper
from django.db.migrations.loader import MigrationLoader
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


@functools.cache
def known_migrations() -> frozenset[tuple[str, str]]:
    """Return (app, name) for every migration in this release."""
    return frozenset(MigrationLoader(None).graph.nodes)


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
