"""Public reads while the read replica is down, or is no replica: the primary serves them."""

import pytest
from django.db import connection
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from config.environment.server_urls import parse_replica_url
from config.postgresql.replica import REPLICA, ReplicaMonitor, ReplicaRouter, ReplicaState, monitor
from tests.config.postgresql.replicas import replica_at
from tests.rows.factories import TokenFactory
from tokens.models import Token

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["down", "not a standby"])
def replica(request, unused_port):
    place = {"HOST": "127.0.0.1", "PORT": str(unused_port)} if request.param == "down" else {}
    with replica_at(**place):
        yield


def listed():
    answer = Client().get("/api/tokens")
    assert answer.status_code == 200, answer.content
    return [record["contract_address"] for record in answer.json()["data"]]


def samples():
    families = text_string_to_metric_families(Client().get("/metrics").text)
    return {sample.name: sample.value for family in families for sample in family.samples}


def test_public_reads_use_the_primary(replica):
    token = TokenFactory()
    assert listed() == [token.contract_address]
    # The second one does not even try the replica.
    assert monitor.circuit_breaker.is_open()
    assert listed() == [token.contract_address]


def test_a_state_is_trusted_for_5_seconds_while_another_thread_measures():
    times, meanwhile = [0.0], []

    def measure():
        # Like another thread's read.
        meanwhile.append(own.is_usable())
        return ReplicaState(0.0)

    own = ReplicaMonitor(measure=measure, clock=lambda: times[-1])
    with replica_at():
        for now in (0.0, 4.0, 10.0):
            times.append(now)
            assert own.is_usable()
    assert meanwhile == [False, True, False]


def test_the_service_is_ready_and_reports_the_replica_as_failed(replica):
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["status"], answer.json()["replica"]) == (200, "ok", "failed")
    assert samples()["launchboard_replica_used"] == 0
    assert "launchboard_replica_lag_seconds" not in samples()


def test_the_dashboard_has_an_alarm(replica, operator):
    page = operator.get("/admin/").text
    assert "Read replica" in page and "the primary serves its reads" in page


def test_nothing_mentions_a_replica_without_one(operator):
    assert "replica" not in Client().get("/readyz").json()
    assert not [name for name in samples() if "replica" in name]
    assert "Read replica" not in operator.get("/admin/").text


def test_a_row_of_the_replica_is_written_to_the_primary():
    token = TokenFactory()
    token._state.db = REPLICA
    token.name = "Written"
    token.save()
    assert Token.objects.get().name == "Written"
    assert not ReplicaRouter().allow_migrate(REPLICA, "tokens")


def test_a_dead_replica_is_given_up_sooner_than_the_primary_unless_its_url_says_otherwise():
    options = parse_replica_url("postgres://host/name?keepalives_idle=99")["OPTIONS"]
    assert (options["connect_timeout"], options["tcp_user_timeout"], options["keepalives_idle"]) == (2, 5000, 99)
    assert parse_replica_url("postgres://host/name?connect_timeout=9")["OPTIONS"]["connect_timeout"] == 9
    assert connection.settings_dict["OPTIONS"]["tcp_user_timeout"] == 30_000
