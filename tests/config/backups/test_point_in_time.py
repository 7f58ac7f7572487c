"""Recovery of a time by PostgreSQL's own tools, by the commands and settings that docs/backups.md has."""

import os
import re
import subprocess
import tempfile
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import psycopg
import pytest
from django.conf import settings as configured
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from config.backups.table_digests import digest_tables
from config.environment.variables import BASE_DIR
from development.servers.programs import postgresql_programs
from development.servers.unprivileged import chown_tree
from tests.processes.forking.program import run_program
from tests.processes.own_environment import environment_on
from tests.processes.own_postgresql import OwnPostgres, Recovery
from tests.processes.waiting import wait_for
from tests.rows.factories import DeployWalletFactory, TokenFactory
from tests.tokens.trades.test_trade_partitions import store
from tokens.deploying.sending.pause_flags import is_paused
from tokens.models import Token

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def blocks(kind):
    """Return the blocks of code of this kind in the guide."""
    text = (BASE_DIR / "docs" / "backups.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@contextmanager
def connected_to_server(server):
    """Connect this thread to a server's database while the block runs."""
    of_test = dict(connection.settings_dict)
    connection.close()
    connection.settings_dict.update(HOST=server.host, NAME="launchboard")
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(of_test)


@contextmanager
def stopping(server):
    """Stop a server after the block, before its directory is removed."""
    try:
        yield
    finally:
        server.stop()


def is_recovered():
    with connection.cursor() as cursor:
        cursor.execute("SELECT NOT pg_is_in_recovery()")
        return cursor.fetchone()[0]


@pytest.fixture
def places():
    """Return four directories that the servers' user can write: two servers, the archive, and the base backup."""
    with tempfile.TemporaryDirectory() as place:
        paths = [Path(place) / name for name in ("first", "second", "wal", "base")]
        Path(place).chmod(0o755)
        for path in paths:
            path.mkdir(mode=0o700)
            chown_tree(path)
        yield paths


def test_rows_are_exactly_those_of_the_time(places):
    first, second, wal, base = places
    archiving, recovering = blocks("ini")
    (base_backup, _) = blocks("sh")
    primary = OwnPostgres(first)
    with stopping(primary):
        with psycopg.connect(primary.url, autocommit=True) as server:
            for name, value in re.findall(r"^(\w+) = '?(.*?)'?$", archiving, re.MULTILINE):
                server.execute(f"ALTER SYSTEM SET {name} = {psycopg.sql.quote(value.replace('/srv/wal', str(wal)))}")
        primary.stop()
        primary.start()
        environment = environment_on("launchboard") | {"DATABASE_URL": primary.url, "SECRET_KEY": configured.SECRET_KEY}
        run_program(["python", "manage.py", "migrate", "--verbosity", "0"], environment).check_returncode()
        path = f"{postgresql_programs()}:{os.environ['PATH']}"
        command = base_backup.replace("/srv/base", str(base))
        subprocess.run(["/bin/sh", "-c", command], env=environment | {"PATH": path}, check=True)
        with connected_to_server(primary):
            TokenFactory()
            DeployWalletFactory(chain_id=8453)
            # A partition that the base backup does not have.
            store(timezone.now())
            expected = digest_tables()
            with connection.cursor() as cursor:
                cursor.execute("SELECT clock_timestamp()")
                (target,) = cursor.fetchone()
            # The mistake.
            Token.objects.update(name="overwritten")
            TokenFactory()
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_walfile_name(pg_switch_wal())")
                (last,) = cursor.fetchone()
            wait_for(lambda: (wal / last).exists())
    settings = recovering.replace("/srv/wal", str(wal))
    settings = re.sub("recovery_target_time = .*", f"recovery_target_time = '{target.isoformat()}'", settings)
    recovered = OwnPostgres(second, recovery=Recovery(base, settings))
    with stopping(recovered), connected_to_server(recovered):
        wait_for(is_recovered)
        assert digest_tables() == expected
        token = Token.objects.latest("pk")
        call_command("restore", "--recovered", stdout=StringIO())
        assert is_paused(8453) and TokenFactory().pk > token.pk + 10**9
