"""Larger tables, filled by SQL."""

from collections.abc import Mapping

from django.db import connection
from django.db.models import Model
from psycopg.sql import SQL

from tests.processes.waiting import wait_for
from tests.rows.factories import TokenFactory

# Enough for the planner to prefer an index.
ROWS = 5_000


def make_tokens(values: Mapping[str, str], markets: Mapping[str, str], *, rows: int = ROWS) -> None:
    """Insert tokens with these columns, and markets: SQL from the row's number n, which rises with id and time."""
    multiply(
        TokenFactory(),
        {
            "id": "nextval('tokens_token_id_seq')",
            "contract_address": "'0x' || upper(lpad(to_hex(n), 40, '0'))",
            "deployed_at": "timestamptz '2026-01-01Z' + n * interval '1 second'",
        }
        | values,
        rows=rows,
    )
    with connection.cursor() as cursor:
        # To the planner the tables may still be as small as they were: it would join them row by row.
        cursor.execute("ANALYZE tokens_token, tokens_market")
    changes = ", ".join(f"{column} = {value}" for column, value in markets.items())
    with connection.cursor() as cursor:
        cursor.execute(
            SQL(
                "UPDATE tokens_market SET updated_at = now(), {} FROM "
                "(SELECT id, row_number() OVER (ORDER BY id) AS n FROM tokens_token) AS numbered WHERE id = token_id"
            ).format(SQL(changes))
        )
    for table in ("tokens_token", "tokens_market", "tokens_searchentry"):
        settle(table)


def multiply(row: Model, values: Mapping[str, str], *, rows: int = ROWS) -> None:
    """Insert a table's one row many times, with these values."""
    columns = [field.column for field in row._meta.concrete_fields if not field.generated]
    table = row._meta.db_table
    with connection.cursor() as cursor:
        # Earlier tests left plans for small tables, which would look up each row's foreign keys in a scan.
        cursor.execute("DISCARD PLANS")
        cursor.execute(
            SQL("INSERT INTO {table} ({}) SELECT {} FROM {table}, generate_series(1, {rows}) AS n ORDER BY n").format(
                SQL(", ").join(map(SQL, columns)),
                SQL(", ").join(SQL(values.get(column, column)) for column in columns),
                table=SQL(table),
                rows=rows,
            )
        )
    row.delete()


def settle(table: str) -> None:
    """Vacuum until all rows are visible, which they are not while others have an older snapshot."""
    wait_for(lambda: _is_vacuumed(table))


def _is_vacuumed(table: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM ANALYZE {table}")
        cursor.execute("SELECT relallvisible > relpages * 0.9 FROM pg_class WHERE relname = %s", [table])
        return bool(cursor.fetchone()[0])
