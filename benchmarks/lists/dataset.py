"""The databases that API benchmarks run on: invented tokens, loaded once and kept.

    python -m benchmarks.lists.dataset [COUNT]

loads one, where it is missing; other benchmarks do so, too.

They are in their own bundled server, in `.local/benchmarks` or in LAUNCHBOARD_LOCAL. `open_server` comes before
`django.setup()`: what it sets in the environment, the settings read.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import quote

import psycopg

from config.environment.variables import BASE_DIR
from development.servers import bundled

# What the service runs with in benchmarks: limits that count every request and refuse none.
ENVIRONMENT = {
    "SECRET_KEY": "benchmarks-sign-nothing-that-anybody-would-want-to-forge",
    "RATE_LIMIT_PUBLIC": "1000000",
    "RATE_LIMIT_PAGES": "0",
    "RATE_LIMIT_PICTURES": "0",
    "RATE_LIMIT_CARDS": "0",
    "LOG_LEVEL": "WARNING",
    "PYTHONWARNINGS": "ignore:You're running the worker with superuser",
}


def open_server(count: int) -> None:
    """Start the server, load the tokens where they are missing, and connect this process to that database."""
    start_server()
    os.environ["DATABASE_URL"] = database_url(count)
    prepare(count)


def start_server() -> None:
    """Start the server, or find it running, and hold it for this process's life."""
    os.environ.setdefault("LAUNCHBOARD_LOCAL", str(BASE_DIR / ".local" / "benchmarks"))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.update(ENVIRONMENT)
    bundled.ensure_running()
    os.environ["REDIS_URL"] = bundled.redis_url()


def database_url(database: str | int) -> str:
    """Return a database's address, by its name or by how many tokens it has."""
    database = name(database) if isinstance(database, int) else database
    return f"postgres://launchboard@{quote(str(bundled.socket_directory()), safe='')}/{database}"


def environment(database: str | int) -> dict[str, str]:
    """Return the environment for a process that works on a database, by its name or by how many tokens it has."""
    return os.environ | {"DATABASE_URL": database_url(database)}


def make_empty(database: str, *, template: str = "template1") -> None:
    """Recreate a database as another one's copy, such as an empty one."""
    with connect("postgres") as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {database} TEMPLATE {template}")


def make_migrated(database: str) -> None:
    """Recreate a database with the tables and no rows."""
    make_empty(database)
    manage(database, "migrate", "--verbosity", "0")


def prepare(count: int) -> None:
    """Create the database where it is missing. One that was left half made has no tokens, and gets them here."""
    with connect("postgres") as connection:
        found = connection.execute("SELECT FROM pg_database WHERE datname = %s", [name(count)]).rowcount
        if not found:
            connection.execute(f"CREATE DATABASE {name(count)}")
    manage(count, "migrate", "--verbosity", "0")
    with connect(name(count)) as connection:
        (is_empty,) = connection.execute("SELECT NOT EXISTS (SELECT FROM tokens_token)").fetchone() or (True,)
    if is_empty:
        print(f"loading {count:,} tokens; they are kept for the next time", flush=True)
        manage(count, "seed_tokens", "--count", str(count))


@contextmanager
def connect(database: str | int) -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    """Return a connection to a database in the server, by its name or by how many tokens it has; autocommit is on."""
    if isinstance(database, int):
        database = name(database)
    with psycopg.connect(
        host=str(bundled.socket_directory()), user="launchboard", dbname=database, autocommit=True
    ) as connection:
        yield connection


def name(count: int) -> str:
    """Return the name of the database with so many tokens."""
    return f"tokens_{count}"


def manage(database: str | int, *words: str) -> None:
    """Run a manage.py command on a database, by its name or by how many tokens it has."""
    run_manage(environment(database), *words)


def run_manage(given: Mapping[str, str], *words: str) -> None:
    """Run a manage.py command in an environment."""
    subprocess.run([sys.executable, "manage.py", *words], cwd=BASE_DIR, env=given, check=True)


if __name__ == "__main__":
    open_server(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
