"""Empty databases in the tests' server, and tests that move to another database."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import connection
from psycopg import sql

from tests.processes.own_environment import database_url, process_number


@contextmanager
def empty_database(*, owner: str = "launchboard") -> Iterator[str]:
    """Create a database without tables for the block, and return its name."""
    name = f"test_empty_{process_number()}"
    drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    create = sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(name), sql.Identifier(owner))
    with psycopg.connect(database_url("postgres"), autocommit=True) as server:
        server.execute(drop)
        server.execute(create)
        try:
            yield name
        finally:
            server.execute(drop)


@contextmanager
def connected_to(name: str) -> Iterator[None]:
    """Connect this thread to another database while the block runs."""
    of_test = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = of_test
