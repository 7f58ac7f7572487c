"""PostgreSQL as hosts offer it: a role that is no superuser, and the oldest supported version."""

from contextlib import contextmanager

import psycopg
import pytest
from django.conf import settings as configured
from psycopg import sql

from development.servers.programs import postgresql_programs
from tests.chaos.harness import manage
from tests.processes.empty_database import empty_database
from tests.processes.own_environment import database_url, environment_on, process_number
from tests.servers.oldest_postgresql import PROGRAMS, oldest_postgresql
from tests.servers.whole_service import findings
from tokens.trades.market_rows import STEPS

pytestmark = pytest.mark.slow

CHECKS = ("postgresql", "pooler", "schema", "connections", "clock", "migrations", "partitions")


@pytest.fixture
def role():
    """Return the name of a role without any right of a superuser."""
    name = f"test_managed_{process_number()}"
    with psycopg.connect(database_url("postgres"), autocommit=True) as server:
        identifier = sql.Identifier(name)
        rights = "LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS"
        server.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(identifier))
        server.execute(sql.SQL(f"CREATE ROLE {{}} {rights}").format(identifier))
        yield name
        server.execute(sql.SQL("DROP ROLE {}").format(identifier))


def environment_of(url):
    own = {"SECRET_KEY": configured.SECRET_KEY, "POSTGRESQL_PROGRAMS": str(postgresql_programs())}
    return environment_on("postgres") | own | {"DATABASE_URL": url}


@contextmanager
def database_of_an_administrator(role):
    """Yield an environment in whose database the role may create tables, and no extensions: they exist."""
    with empty_database() as name:
        with psycopg.connect(database_url(name), autocommit=True) as server:
            server.execute("CREATE EXTENSION pg_trgm; CREATE EXTENSION btree_gin")
            server.execute(sql.SQL("GRANT CREATE ON SCHEMA public TO {}").format(sql.Identifier(role)))
        yield environment_of(database_url(name).replace("launchboard@", f"{role}@"))


def maintain_and_check(environment):
    manage(environment, "partitions", "--maintain")
    passed = findings(environment, "ok")
    assert [name for name in CHECKS if name not in passed] == []
    failed = findings(environment, "error", "unknown")
    assert [name for name in CHECKS if name in failed] == []


def test_a_role_that_owns_the_database_migrates_and_backs_up(role, tmp_path):
    with empty_database(owner=role) as name:
        owned = environment_of(database_url(name).replace("launchboard@", f"{role}@"))
        manage(owned, "migrate", "--verbosity", "0")
        maintain_and_check(owned)
        manage(owned, "backup", str(tmp_path / "backup.zip"))
    with database_of_an_administrator(role) as granted:
        manage(granted, "restore", str(tmp_path / "backup.zip"))
        maintain_and_check(granted)


def test_a_role_that_may_only_create_tables_migrates(role):
    with database_of_an_administrator(role) as granted:
        manage(granted, "migrate", "--verbosity", "0")
        maintain_and_check(granted)


# Before version 16 `power` has 16 decimals, in which these prices are 0 or have few digits.
@pytest.mark.parametrize(("tick", "pair_decimals"), [(-424_400, 6), (-230_400, 18), (230_400, 18), (-887_200, 24)])
def test_the_oldest_supported_version_computes_small_prices(tick, pair_decimals):
    rows = """
        SELECT price FROM (SELECT 18 AS decimals) AS token, (SELECT {} AS tick, {} AS quote_decimals) AS launch,
            LATERAL ({}) AS starting
    """
    query = sql.SQL(rows).format(sql.Literal(tick), sql.Literal(pair_decimals), sql.SQL(STEPS["starting"]))
    with oldest_postgresql() as prefix, psycopg.connect(f"{prefix}postgres") as server:
        price = server.execute(query).fetchone()[0]
    assert float(price) == pytest.approx(1.0001**tick * 10.0 ** (18 - pair_decimals), rel=1e-9)


def test_the_oldest_supported_version_migrates_and_restores(tmp_path):
    with oldest_postgresql() as prefix:
        with psycopg.connect(f"{prefix}postgres", autocommit=True) as server:
            server.execute("CREATE DATABASE first")
            server.execute("CREATE DATABASE second")
        first, second = (
            environment_of(f"{prefix}{name}") | {"POSTGRESQL_PROGRAMS": str(PROGRAMS)} for name in ("first", "second")
        )
        manage(first, "migrate", "--verbosity", "0")
        maintain_and_check(first)
        manage(first, "seed_tokens", "--count", "500")
        manage(first, "backup", str(tmp_path / "backup.zip"))
        manage(second, "restore", str(tmp_path / "backup.zip"))
        maintain_and_check(second)
