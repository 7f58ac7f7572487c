"""Migrations while the service runs: their timeouts, and a linter's rules for their statements."""

import re
import subprocess
import sys
from importlib import import_module
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.core.management import CommandError, call_command
from django.db import NotSupportedError, OperationalError, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState
from django.db.models import Index

from config.postgresql.batches import RunBatches, by_keys
from config.postgresql.replica import REPLICA
from tests.rows.factories import IndexRequestFactory
from tokens.models import IndexRequest

# Version 0.2.0's migrations, with which an installation begins. All migrations in later apps are checked.
FIRST_MIGRATION = "0001_version_0_2_0"
APPS = ("accounts", "events", "leaderboard", "pretokens", "tokens")
IGNORED_RULES = (
    # Django's fields decide on types, and its migrations run once.
    "prefer-bigint-over-int",
    "prefer-bigint-over-smallint",
    "prefer-identity",
    "prefer-robust-stmts",
    "prefer-text-field",
    # The schema editor sets them, except for concurrent index builds, which wait for long transactions.
    "require-lock-timeout",
    "require-statement-timeout",
    # A list of allowed values grows when a new constraint replaces the former one.
    "ban-drop-constraint",
)
# Tables with so few rows that a migration may fill a column in the transaction that adds it.
SMALL_TABLES = {"accounts_webhookendpoint", "events_outboxevent", "tokens_deploywallet"}


def lint(sql: str, path: Path) -> str:
    """Return the linter's findings, a line each."""
    path.write_text(sql)
    linter = Path(sys.executable).with_name("squawk")
    options = ["--pg-version", "16", "--exclude", ",".join(IGNORED_RULES), "--reporter", "gcc"]
    run = subprocess.run([linter, *options, path], capture_output=True, text=True)
    assert run.returncode == bool(run.stdout), run.stderr
    return run.stdout


def sql_of(app: str, name: str) -> str:
    out = StringIO()
    call_command("sqlmigrate", app, name, stdout=out)
    return out.getvalue()


# PostgreSQL builds no index concurrently in a transaction, such as a test's.
@pytest.mark.django_db(transaction=True)
def test_an_upgrade_blocks_no_table(tmp_path):
    migrations = MigrationLoader(None).disk_migrations
    new = [key for key in migrations if key[0] in APPS and key[1] != FIRST_MIGRATION]
    for key in new:
        sql = sql_of(*key)
        assert not lint(sql, tmp_path / f"{'.'.join(key)}.sql")
        altered = set(re.findall('ALTER TABLE "([^"]+)"', sql)) - set(re.findall('CREATE TABLE "([^"]+)"', sql))
        assert len(altered) <= 1 or not migrations[key].atomic, f"{key} may deadlock with writers of {altered}"
        filled = set(re.findall(r"^UPDATE (\w+)", sql, re.MULTILINE)) & altered
        assert filled <= SMALL_TABLES, f"{key} locks {filled} until their rows are filled"
        is_concurrent = [
            isinstance(o, AddIndexConcurrently | RemoveIndexConcurrently | RunBatches)
            for o in migrations[key].operations
        ]
        assert migrations[key].atomic or all(is_concurrent), f"{key} has statements without timeouts"


@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        ('ALTER TABLE "tokens_market" DROP COLUMN "due_at"', "ban-drop-column"),
        ('CREATE INDEX "market_due" ON "tokens_market" ("due_at")', "require-concurrent-index-creation"),
        ('CREATE INDEX CONCURRENTLY "market_due" ON "tokens_market" ("due_at")', ""),
        ('CREATE TABLE "tokens_limit" ("id" bigint NOT NULL PRIMARY KEY)', ""),
    ],
)
def test_the_linter_finds_what_blocks_tables_or_the_former_version(statement, rule, tmp_path):
    findings = lint(f"{statement};\n", tmp_path / "migration.sql")
    assert rule in findings
    assert bool(findings) == bool(rule)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["0036_market_events", "0070_claim_sums_by_recipient"])
def test_a_database_between_two_squashed_migrations_is_refused(name):
    connection.prepare_database()
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied("tokens", name)
    with pytest.raises(CommandError, match="only some of the migrations that tokens.* replaces. First run .* 0.2.0"):
        connection.prepare_database()
    # A new database.
    recorder.migration_qs.all().delete()
    connection.prepare_database()


INDEX = Index(fields=["last_error"], name="index_of_test")
VALID = "SELECT indexrelid, indisvalid FROM pg_index WHERE indexrelid = to_regclass('index_of_test')"


@pytest.mark.django_db(transaction=True)
def test_an_interrupted_build_of_an_index_can_be_repeated():
    def build() -> tuple[int, bool]:
        with connection.schema_editor(atomic=False) as editor:
            editor.add_index(IndexRequest, INDEX, concurrently=True)
        cursor.execute(VALID)
        return cursor.fetchone()

    with connection.cursor() as cursor:
        try:
            first = build()
            assert first[1] and build() == first
            cursor.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass('index_of_test')")
            assert build()[1] and build()[0] != first[0]
        finally:
            cursor.execute("DROP INDEX IF EXISTS index_of_test")


@pytest.mark.django_db(transaction=True)
def test_migrations_have_timeouts():
    with connection.schema_editor(atomic=True):
        assert (show("lock_timeout"), show("statement_timeout")) == ("5s", "1min")
    assert (show("lock_timeout"), show("statement_timeout")) == ("0", "0")
    with connection.schema_editor(atomic=False):
        assert (show("lock_timeout"), show("statement_timeout")) == ("0", "0")


SHORTEN = "UPDATE tokens_indexrequest SET last_error = '' WHERE id >= %(first)s AND id < %(end)s"


def run_batches(code, *, atomic=False, on=connection):
    operation, state = RunBatches(code, RunBatches.noop), ProjectState()
    with on.schema_editor(atomic=atomic) as editor:
        operation.database_forwards("tokens", editor, state, state)
    assert "apps" not in vars(state), "models are rendered, which takes seconds"


@pytest.mark.django_db(transaction=True)
def test_a_batch_is_committed_before_the_next_one():
    first, last = (IndexRequestFactory(last_error="an error").pk for _ in range(2))

    def statements(_):
        yield SHORTEN, {"first": first, "end": first + 1}
        yield "SELECT pg_sleep(2)", {}

    with connection.execute_wrapper(limit_statements), pytest.raises(OperationalError, match="statement timeout"):
        run_batches(statements)
    assert dict(IndexRequest.objects.values_list("pk", "last_error")) == {first: "", last: "an error"}


def limit_statements(execute, sql, params, many, context):
    return execute(sql.replace("statement_timeout = '60s'", "statement_timeout = '100ms'"), params, many, context)


@pytest.mark.django_db(transaction=True)
def test_batches_have_the_same_number_of_rows_however_sparse_the_keys_are():
    shorten = by_keys("tokens_indexrequest", "id", SHORTEN, rows=2)
    run_batches(shorten)
    for key in (1, 2, 900_000_000, 900_000_001, 10**15):
        IndexRequestFactory(pk=key, last_error="an error")
    bounds = [(batch["first"], batch["end"]) for _, batch in shorten(connection)]
    assert bounds == [(0, 900_000_000), (900_000_000, 10**15), (10**15, 2**63 - 1)]
    run_batches(shorten)
    assert not IndexRequest.objects.exclude(last_error="").exists()


@pytest.mark.django_db(transaction=True)
def test_batches_are_reversed():
    IndexRequestFactory(last_error="an error")
    operation, state = RunBatches(RunBatches.noop, by_keys("tokens_indexrequest", "id", SHORTEN)), ProjectState()
    with connection.schema_editor(atomic=False) as editor:
        operation.database_forwards("tokens", editor, state, state)
        assert IndexRequest.objects.get().last_error == "an error"
        operation.database_backwards("tokens", editor, state, state)
    assert IndexRequest.objects.get().last_error == ""


def test_batches_leave_the_replica_to_the_primary():
    def statements(_):
        pytest.fail("the replica is a copy, which PostgreSQL changes")

    run_batches(statements, on=connection.copy(alias=REPLICA))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("status", "error", "is_outage"),
    [
        ("pending", "chain 8453 is out of reach (no node answered)", True),
        ("failed", "chain 8453 is out of reach (no node answered)", False),
        ("pending", "chain 8453 has no such transaction, or has not mined it", False),
        ("pending", "chain 101 does not have the transaction, or has not finalised it", False),
        ("pending", "no launch is in the transaction", False),
        ("pending", "", False),
    ],
)
def test_an_upgrade_marks_stored_requests_in_an_outage_of_nodes(status, error, is_outage):
    request = IndexRequestFactory(status=status, last_error=error)
    migration = import_module("tokens.migrations.0017_stored_rows")
    with connection.cursor() as cursor:
        cursor.execute(migration.OUTAGES, {"first": request.pk, "end": request.pk + 1})
    request.refresh_from_db()
    assert request.node_outage is is_outage


@pytest.mark.django_db(transaction=True)
def test_batches_refuse_to_share_a_transaction():
    with transaction.atomic(), pytest.raises(NotSupportedError, match="atomic = False"):
        run_batches(by_keys("tokens_indexrequest", "id", SHORTEN), atomic=True)


def show(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW {name}")
        return cursor.fetchone()[0]
