"""Row counts and digests for all tables in the schema `public`, independent of row sequence.

Equal digests mean equal rows: before and after a restore, also into another version of PostgreSQL.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import connection, transaction
from psycopg import sql

from config.postgresql.schema_state import not_of_extension

# Partitions, and tables that were partitions, are separate tables here: their parents have no rows. Extension tables
# are left out.
_TABLES = sql.SQL("""
SELECT relname, array(SELECT attname::text FROM pg_attribute WHERE attrelid = pg_class.oid AND attnum > 0
    AND NOT attisdropped AND attgenerated = '' ORDER BY attnum)
FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    AND {}
ORDER BY relname
""").format(not_of_extension("pg_class"))
# The sum of 64 bits of each row's hash. SHA-256, since servers in FIPS mode have no MD5, and PostgreSQL's own hash
# functions may change with its version.
_DIGEST = """
SELECT count(*), coalesce(sum(('x' || encode(substr(hash, 1, 8), 'hex'))::bit(64)::bigint::numeric), 0)
FROM (SELECT sha256(convert_to(ROW({columns})::text, 'UTF8')) FROM ONLY {table}) AS row (hash)
"""
# How values are written as text.
_FORMS = (
    "SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL timezone = 'UTC'; SET LOCAL intervalstyle = 'postgres';"
    " SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex'"
)
# A backup may take hours, and waits at most a minute for a migration.
_LIMITS = (
    "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = 60000"
)


@dataclass(frozen=True, kw_only=True)
class TableDigest:
    """A table's row count, and the sum of its row hashes in decimal."""

    rows: int
    digest: str


def lock_tables() -> None:
    """Prevent table drops and alterations until the transaction, which reads one snapshot, ends.

    Reads and writes go on. Raises a DatabaseError if a table was dropped just now.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LIMITS)
        cursor.execute(_TABLES)
        names = [sql.Identifier(name) for name, _ in cursor.fetchall()]
        if names:
            cursor.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(sql.SQL(", ").join(names)))


def digest_tables(*, without: Iterable[str] = ()) -> dict[str, TableDigest]:
    """Return each table's digest by name."""
    left_out = frozenset(without)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_LIMITS)
        cursor.execute(_FORMS)
        cursor.execute(_TABLES)
        tables = {name: columns for name, columns in cursor.fetchall() if name not in left_out}
        digest_by_table = {}
        for name, columns in tables.items():
            cursor.execute(
                sql.SQL(_DIGEST).format(
                    columns=sql.SQL(", ").join(map(sql.Identifier, columns)), table=sql.Identifier("public", name)
                )
            )
            rows, digest = cursor.fetchone()
            digest_by_table[name] = TableDigest(rows=rows, digest=str(digest))
    return digest_by_table
