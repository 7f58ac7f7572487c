"""Gates in PostgreSQL that block writes to a table."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql

from tests.processes.waiting import wait_for

# An advisory lock with no other use.
_LOCK = 20_261_121


class DatabaseGate:
    """Gate that blocks transactions that insert into a table or update it: at the row, or at the commit."""

    def __init__(self, database_url: str) -> None:
        self._holder = psycopg.connect(database_url, autocommit=True)
        self._holder.execute("SELECT pg_advisory_lock(%s)", [_LOCK])

    def wait(self) -> None:
        """Wait until a transaction is blocked."""
        wait_for(self._is_waited_for)

    def lose(self) -> None:
        """Let the blocked transactions go on. A dead client is noticed only after the commit."""
        self._holder.close()

    def _is_waited_for(self) -> bool:
        # The test processes share a server: only waiters in this database count.
        waiting = (
            "SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database"
            " WHERE locktype = 'advisory' AND objid = %s AND NOT granted AND datname = current_database()"
        )
        return self._holder.execute(waiting, [_LOCK]).rowcount > 0


@contextmanager
def database_gate(
    database_url: str, table: str, *, on: str = "INSERT", when: str = "true", commit: bool = False
) -> Iterator[DatabaseGate]:
    """Create a gate for the table; `on` and `when` are the blocked event and condition, such as UPDATE OF nonce."""
    made = sql.SQL("CREATE TRIGGER gate BEFORE {on} ON {table} FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION gate()")
    if commit:
        made = sql.SQL(
            "CREATE CONSTRAINT TRIGGER gate AFTER {on} ON {table} DEFERRABLE INITIALLY DEFERRED"
            " FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION gate()"
        )
    function = sql.SQL(
        "CREATE OR REPLACE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN PERFORM pg_advisory_xact_lock_shared({lock}); RETURN NEW; END'"
    )
    with psycopg.connect(database_url, autocommit=True) as owner:
        owner.execute(function.format(lock=sql.Literal(_LOCK)))
        gate = DatabaseGate(database_url)
        owner.execute(made.format(on=sql.SQL(on), table=sql.Identifier(table), when=sql.SQL(when)))
        try:
            yield gate
        finally:
            gate.lose()
            owner.execute(sql.SQL("DROP TRIGGER gate ON {}").format(sql.Identifier(table)))
