"""Benchmark of migrations on full tables: the longest lock, and the slowest statement of other processes.

    python -m benchmarks.migration_locks [--from REF] [--keep]

The database has the former version's schema (by default the last tag, or version 0.2.0) and the rows of
`full_tables.sql`. While `manage.py migrate` runs, `pg_locks` is sampled, and a connection for each table reads,
inserts and updates rows ten times a second. Exits with code 1 if a lock or a statement takes longer than a second.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

from psycopg.sql import SQL, Identifier

from benchmarks.harness import Limits, keep, print_table
from benchmarks.lists import dataset
from config.environment.variables import BASE_DIR
from tests.upgrade.former_version import former_version, this_version
from tests.upgrade.lock_watch import watch_locks

_DATABASE = "migration_locks"
_ROWS = Path(__file__).with_name("full_tables.sql")
_LIMIT_SECONDS = 1.0
_SETTLED_SECONDS = 20
_INTERVAL_SECONDS = 0.1
# Column with numbers from 1 to at least 50 -> the tables that are read and written by it.
_TABLES = {
    "agent_id": "leaderboard_interaction",
    "chain_id = 8453 AND pool = '0xpool1' AND block_number": "tokens_referenceprice",
    "fid": "accounts_socialprofile",
    "id": "accounts_webhookendpoint events_event events_outboxevent leaderboard_agent leaderboard_snapshot "
    "tokens_coverage tokens_coveragealarm tokens_deploywallet tokens_indexrequest tokens_signedtransaction "
    "tokens_token",
    "token_id": "tokens_candle tokens_launchfacts tokens_market tokens_poolliquiditychange tokens_rollingsum "
    "tokens_searchentry tokens_tokenevent tokens_trade",
}


@dataclass
class Figures:
    """Figures of one migration, in seconds."""

    seconds: float = 0.0
    lock: float = 0.0
    locked: str = ""
    wait: float = 0.0
    statement: float = 0.0
    slowest: str = ""
    statements: int = 0


class Statements:
    """Statements of other processes, whose time counts for the migration that ran when they began."""

    def __init__(self) -> None:
        self.figures = Figures()
        self._is_over = threading.Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Read, insert and update rows of all tables while the block runs."""
        pairs = [(table, key) for key, tables in _TABLES.items() for table in tables.split()]
        threads = [threading.Thread(target=self._run, args=pair) for pair in pairs]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            for thread in threads:
                thread.join()

    def _run(self, table: str, key: str) -> None:
        column = key.split()[-1]
        # The names of each twentieth token change, whose search entries `tokens` 0017 folds.
        change, step = ("name = name || '.'", 20) if table == "tokens_token" else (f"{column} = {column}", 1)
        statements = {
            "read": "SELECT * FROM {table} WHERE {key} = %s",
            "insert": "INSERT INTO {table} SELECT * FROM {table} WHERE {key} = %s ON CONFLICT DO NOTHING",
            "update": "UPDATE {table} SET {change} WHERE {key} = %s",
        }
        names = {"table": Identifier(table), "key": SQL(key), "change": SQL(change)}
        with dataset.connect(_DATABASE) as connection:
            # Prepared statements fail when a column is added.
            connection.prepare_threshold = None
            while not self._is_over.wait(_INTERVAL_SECONDS):
                number = random.randint(1, 50) * step
                for kind, statement in statements.items():
                    figures, begun = self.figures, time.monotonic()
                    connection.execute(SQL(statement).format(**names), [number])
                    seconds = time.monotonic() - begun
                    figures.statements += 1
                    if seconds > figures.statement:
                        figures.statement, figures.slowest = round(seconds, 2), f"{table}: {kind}"


def main() -> int:
    options = _parse_options()
    dataset.start_server()
    commit, load = _prepare(options.ref), os.getloadavg()[0]
    figures = _measure()
    titles = ["migration", "s", "lock s", "lock", "wait s", "statement s", "statement", "statements"]
    print_table(titles, [[name, *astuple(row)] for name, row in figures.items()])
    limits = Limits()
    for measure in ("lock", "wait", "statement"):
        longest = max(figures, key=lambda name: getattr(figures[name], measure))
        limits.at_most(f"{measure}, {longest}", getattr(figures[longest], measure), _LIMIT_SECONDS, "s")
    if options.keep:
        rows = {name: asdict(row) for name, row in figures.items()}
        keep(f"migration_locks_{commit}", {"to": this_version().commit, "load": round(load, 1), "migrations": rows})
    return 0 if limits.are_kept else 1


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.migration_locks")
    parser.add_argument("--from", dest="ref", default="", help="commit of the former version")
    parser.add_argument("--keep", action="store_true", help="store the figures in benchmarks/results")
    return parser.parse_args()


def _prepare(ref: str) -> str:
    """Copy the former version's full database, which is made if it is missing; return that version's commit."""
    with dataset.connect("postgres") as connection:
        former = former_version(ref)
        full = f"full_{former.commit}"
        if not connection.execute("SELECT FROM pg_database WHERE datname = %s", [full]).rowcount:
            print("filling tables, which takes minutes; they are kept for the next time", flush=True)
            dataset.make_empty(_DATABASE)
            former.manage(dataset.environment(_DATABASE), "migrate", "-v0")
            with dataset.connect(_DATABASE) as rows:
                rows.execute(_ROWS.read_bytes())
                rows.execute("VACUUM ANALYZE")
            connection.execute(f"ALTER DATABASE {_DATABASE} RENAME TO {full}")
        dataset.make_empty(_DATABASE, template=full)
    return former.commit


def _measure() -> dict[str, Figures]:
    """Return figures by migration; "none" covers the time before the first migration."""
    statements = Statements()
    result, begun = {"none": statements.figures}, time.monotonic()
    with statements.running(), watch_locks(dataset.database_url(_DATABASE)) as locks:
        for name in _applied_migrations():
            former, now = statements.figures, time.monotonic()
            former.seconds, begun = round(now - begun, 1), now
            former.lock, former.locked, former.wait = locks.longest, locks.longest_of, locks.longest_wait
            locks.longest, locks.longest_of, locks.longest_wait = 0.0, "", 0.0
            statements.figures = result[name] = Figures()
    del result["end"]
    return result


def _applied_migrations() -> Iterator[str]:
    """Run `migrate`; yield the name of each migration when it begins, and "end" after the last one."""
    time.sleep(_SETTLED_SECONDS)
    command, environment = [sys.executable, "manage.py", "migrate"], dataset.environment(_DATABASE)
    with subprocess.Popen(command, cwd=BASE_DIR, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in iter(process.stdout.read1, b""):
            yield from re.findall(r"Applying (\S+)\.\.\.", line.decode())
    if process.returncode:
        raise RuntimeError("migrate failed")
    yield "end"


if __name__ == "__main__":
    sys.exit(main())
