"""SQL files: they have all the database's functions and triggers, as migrations created them."""

import re

import pytest
from django.db import connection
from django.db.migrations import RunSQL
from psycopg import sql

from config.environment.variables import BASE_DIR
from config.postgresql.schema_state import not_of_extension
from config.postgresql.sql_files import load_sql, sql_digest

# The statement for markets is no definition: its module executes it.
STATEMENTS = {"tokens/trades/markets.sql"}
FILES = sorted({path.relative_to(BASE_DIR).as_posix() for path in BASE_DIR.glob("*/*/*.sql")} - STATEMENTS)
FUNCTIONS = sql.SQL("""
SELECT proname, pg_get_functiondef(pg_proc.oid) FROM pg_proc
WHERE pronamespace = %s::regnamespace AND {}
""").format(not_of_extension("pg_proc"))
TRIGGERS = """
SELECT tgrelid::regclass || ': ' || tgname, pg_get_triggerdef(pg_trigger.oid)
FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
WHERE NOT tgisinternal AND pronamespace = %s::regnamespace
"""
LOAD = re.compile(r'load_sql\(\s*"([^"]+)",\s*"(\w+)"')
WRITERS_WAIT = """
SELECT relname FROM pg_locks JOIN pg_class ON pg_class.oid = relation
WHERE pid = pg_backend_pid() AND relnamespace = 'public'::regnamespace
    AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
"""


def definitions(schema: str) -> dict[str, str]:
    """Return a schema's functions, and the triggers that run them."""
    with connection.cursor() as cursor:
        cursor.execute(FUNCTIONS.as_string(), [schema])
        functions = {name: text.replace(f"FUNCTION {schema}.", "FUNCTION ", 1) for name, text in cursor.fetchall()}
        cursor.execute(TRIGGERS, [schema])
        return functions | dict(cursor.fetchall())


@pytest.mark.django_db
def test_files_have_the_functions_and_triggers_of_the_database():
    stored = definitions("public")
    # Functions go to the path's first schema, and triggers to their tables, until the test's transaction ends.
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA of_files; SET LOCAL search_path = of_files, public")
        for path in FILES:
            cursor.execute(load_sql(path, sql_digest(path), with_triggers=True).sql)
    in_files = definitions("of_files")
    differing = sorted(name for name in stored | in_files if stored.get(name) != in_files.get(name))
    assert not differing, "edit and load the SQL file; the migration that adds a function or trigger has its text"


def test_the_last_migration_that_loads_a_file_has_its_digest():
    folders = ("*/migrations/*.py", "config/*/migrations/*.py")
    migrations = [path.read_text() for folder in folders for path in sorted(BASE_DIR.glob(folder))]
    loads = {path: digest for text in migrations for path, digest in LOAD.findall(text)}
    changed = [f'load_sql("{path}", "{sql_digest(path)}")' for path in FILES if loads.pop(path, "") != sql_digest(path)]
    assert (changed, loads) == ([], {}), "add these lines to a new migration"


@pytest.mark.django_db
@pytest.mark.parametrize(("with_triggers", "tables"), [(False, set()), (True, {"events_event", "events_outboxevent"})])
def test_only_a_load_of_triggers_locks_tables(with_triggers, tables):
    path = "config/events/event_audience.sql"
    with connection.cursor() as cursor:
        cursor.execute(load_sql(path, sql_digest(path), with_triggers=with_triggers).sql)
        cursor.execute(WRITERS_WAIT)
        assert {table for (table,) in cursor.fetchall()} == tables


def test_a_file_that_changed_after_its_migration_is_left_to_a_later_one():
    operation = load_sql("config/postgresql/case_folding.sql", "of_former_content")
    assert operation.sql == operation.reverse_sql == RunSQL.noop
