"""Environments of service processes that tests start: a database and a broker of their own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import psycopg
from psycopg import sql
from redis import Redis

from development.servers import bundled

# Numbered databases of Valkey from here on are the brokers of processes that tests start.
_OWN_BROKER = 128


def environment_on(database: str) -> dict[str, str]:
    """Return the environment of a process on this database of the bundled server; the broker is empty."""
    redis_url = f"unix://{bundled.socket_directory() / 'valkey.sock'}?db={_OWN_BROKER + _broker_number()}"
    Redis.from_url(redis_url).flushdb()
    return dict(os.environ) | {
        "DATABASE_URL": _url(database),
        "REDIS_URL": redis_url,
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }


@contextmanager
def copy_of(template: str) -> Iterator[str]:
    """Copy a database, which must have no connections, and return the name of the copy."""
    name = f"{template}_copy"
    drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    with psycopg.connect(_url("postgres"), autocommit=True) as server:
        server.execute(drop)
        make = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        server.execute(make.format(sql.Identifier(name), sql.Identifier(template)))
        try:
            yield name
        finally:
            server.execute(drop)


def _url(database: str) -> str:
    return f"postgres://launchboard@{quote(str(bundled.socket_directory()), safe='')}/{database}"


def _broker_number() -> int:
    """Return the worker's number, which differs between pytest-xdist's workers, as their databases of Valkey do."""
    return int(os.environ["LAUNCHBOARD_REDIS_DB"])
