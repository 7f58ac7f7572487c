"""Public reads with a real streaming replica that lags, is killed and returns."""

import tempfile
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from django.conf import settings as configured
from django.db import connection
from django.test import Client

from accounts.keys import credentials
from accounts.models import Scope
from tests.config.postgresql.replicas import replica_at
from tests.processes.forking.program import run_program
from tests.processes.own_environment import environment_on
from tests.processes.own_postgresql import OwnPostgres
from tests.processes.waiting import wait_for
from tests.rows.factories import TokenFactory
from tokens.models import Token

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
# Every lag is accepted, or none.
ALWAYS, NEVER = 3600.0, -1.0


@pytest.fixture(scope="module")
def servers():
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        primary = OwnPostgres(Path(first))
        environment = environment_on("launchboard") | {"DATABASE_URL": primary.url, "SECRET_KEY": configured.SECRET_KEY}
        run_program(["python", "manage.py", "migrate", "--verbosity", "0"], environment).check_returncode()
        replica = OwnPostgres(Path(second), primary=primary)
        yield primary, replica
        replica.stop()
        primary.stop()


@pytest.fixture
def replica(servers, settings):
    """Connect the test to these servers, with a replica that has replayed everything."""
    primary, replica = servers
    of_test = dict(connection.settings_dict)
    connection.close()
    connection.settings_dict.update(HOST=primary.host, NAME="launchboard")
    # The age of the last replayed transaction is unknown before the first one.
    TokenFactory()
    Token.objects.all().delete()
    settings.READ_REPLICA_MAX_LAG_SECONDS = 5.0
    with replica_at(HOST=replica.host):
        wait_for(lambda: readiness() == "ok")
        yield replica
    connection.close()
    connection.settings_dict.update(of_test)


@contextmanager
def paused(replica):
    """Stop the replay, as a replica that can't keep up."""
    with psycopg.connect(replica.url, autocommit=True) as standby:
        standby.execute("SELECT pg_wal_replay_pause()")
        wait_for(lambda: standby.execute("SELECT pg_get_wal_replay_pause_state()").fetchone() == ("paused",))
        try:
            yield
        finally:
            standby.execute("SELECT pg_wal_replay_resume()")


def readiness():
    answer = Client().get("/readyz")
    assert answer.status_code == 200, answer.content
    return answer.json()["replica"]


def page(**query):
    answer = Client().get("/api/tokens", query)
    assert answer.status_code == 200, answer.content
    return answer.json()


def listed():
    return {record["contract_address"] for record in page(limit=20)["data"]}


def test_public_reads_are_as_old_as_the_replica_and_all_others_are_not(replica, settings):
    settings.READ_REPLICA_MAX_LAG_SECONDS = ALWAYS
    key = {"x-api-key": credentials.issue_key("Reader", scopes=[Scope.READ])}
    with paused(replica):
        token = TokenFactory()
        assert listed() == set()
        partners = Client().get("/api/tokens/authenticated", headers=key).json()["data"]
        assert [record["contract_address"] for record in partners] == [token.contract_address]
        # A caller of such a path has seen the token somewhere.
        assert Client().get(f"/api/tokens/{token.chain_id}/{token.contract_address}").status_code == 200
        assert Client().get(f"/tokens/{token.chain_id}/{token.contract_address}").status_code == 200
    wait_for(lambda: listed() == {token.contract_address})


def test_a_replica_that_lags_is_skipped_until_it_has_caught_up(replica, settings):
    settings.READ_REPLICA_MAX_LAG_SECONDS = 0.1
    with paused(replica):
        token = TokenFactory()
        wait_for(lambda: readiness() == "lagging")
        wait_for(lambda: listed() == {token.contract_address})
        assert "launchboard_replica_used 0.0" in Client().get("/metrics").text
    wait_for(lambda: readiness() == "ok")
    wait_for(lambda: "launchboard_replica_lag_seconds 0.0" in Client().get("/metrics").text)


def test_no_read_fails_while_the_replica_is_killed_and_it_serves_again_after_its_return(replica, settings):
    token = TokenFactory()
    wait_for(lambda: listed() == {token.contract_address})
    replica.kill()
    # The first read has a connection to the killed server.
    assert listed() == {token.contract_address}
    assert readiness() == "failed"
    newer = TokenFactory()
    assert listed() == {token.contract_address, newer.contract_address}
    replica.start()
    wait_for(lambda: readiness() == "ok")
    settings.READ_REPLICA_MAX_LAG_SECONDS = ALWAYS
    with paused(replica):
        TokenFactory()
        # It serves again once a list is older than the primary.
        wait_for(lambda: listed() == {token.contract_address, newer.contract_address})


def test_a_walk_that_began_on_the_primary_loses_no_row_that_the_replica_lacks(replica, settings):
    with paused(replica):
        tokens = {token.contract_address for token in TokenFactory.create_batch(4)}
        settings.READ_REPLICA_MAX_LAG_SECONDS = NEVER
        first = wait_for(lambda: page(limit=1)["data"] and page(limit=1))
        settings.READ_REPLICA_MAX_LAG_SECONDS = ALWAYS
        wait_for(lambda: not listed())
        walked, cursor = [first["data"][0]["contract_address"]], first["cursor"]
        while cursor:
            step = page(limit=1, cursor=cursor)
            walked, cursor = [*walked, *(record["contract_address"] for record in step["data"])], step["cursor"]
    assert len(walked) == len(tokens) and set(walked) == tokens


def test_a_walk_that_began_on_the_replica_stays_there(replica, settings):
    tokens = {token.contract_address for token in TokenFactory.create_batch(3)}
    wait_for(lambda: listed() == tokens)
    settings.READ_REPLICA_MAX_LAG_SECONDS = ALWAYS
    with paused(replica):
        walked, cursor = [], None
        Token.objects.all().update(name="Renamed")
        while len(walked) < 3:
            step = page(limit=1, **({"cursor": cursor} if cursor else {}))
            walked, cursor = [*walked, *step["data"]], step["cursor"]
    assert {record["contract_address"] for record in walked} == tokens
    assert "Renamed" not in {record["name"] for record in walked}
