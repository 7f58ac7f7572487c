"""Tests of `GET /readyz?chain=`: whether one chain is followed as it should be."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from tests.rows.factories import ChainHeadFactory, CoverageFactory, FollowedBlockFactory

pytestmark = pytest.mark.django_db

RULE = "must be a chain of this service"
WELL = {"status": "ok", "database": "ok", "cache": "ok", "migrations": "ok"}
UNKNOWN = {
    "chainId": 8453,
    "head": None,
    "final": None,
    "followed": None,
    "verified": None,
    "lagBlocks": None,
    "lagSeconds": None,
    "halted": False,
}


def ready(**parameters):
    answer = Client().get("/readyz", parameters)
    return answer.status_code, answer.json()


@pytest.mark.parametrize("text", ["", "base", "0", "-1", "08453", " 8453", "8453,1", "99999999", "9" * 5000, "٣"])
def test_it_refuses_what_is_no_chain(text):
    body = {"error": f"chain {RULE}", "details": [{"field": "chain", "message": RULE}]}
    assert ready(chain=text) == (400, body)


def test_a_chain_that_was_never_followed_is_not_ready():
    assert ready(chain="8453") == (503, WELL | {"status": "failed", "chain": UNKNOWN})
    ChainHeadFactory(head=100, final=90, followed=None)
    status, body = ready(chain="8453")
    assert (status, body["chain"]) == (503, UNKNOWN | {"head": 100, "final": 90})


def test_a_chain_that_is_halted_is_not_ready():
    ChainHeadFactory(halted="deeper than finality")
    status, body = ready(chain="8453")
    assert (status, body["status"], body["chain"]["halted"]) == (503, "failed", True)
    # The reason is for operators.
    assert "finality" not in str(body)


@pytest.mark.parametrize(("seconds", "status"), [(50, 200), (61, 503)])
def test_a_chain_is_ready_until_its_lag_alarms(settings, seconds, status):
    settings.FOLLOW_LAG_ALARM_SECONDS = 60
    ChainHeadFactory(head=100, followed=90)
    FollowedBlockFactory(number=90, at=timezone.now() - timedelta(seconds=seconds))
    found, body = ready(chain="8453")
    assert (found, body["chain"]["lagBlocks"]) == (status, 10)
    assert seconds <= body["chain"]["lagSeconds"] < seconds + 9


def test_a_chain_whose_nodes_are_silent_is_not_ready(settings):
    settings.FOLLOW_LAG_ALARM_SECONDS = 60
    ChainHeadFactory(seen_at=timezone.now() - timedelta(seconds=61))
    assert ready(chain="8453")[0] == 503


def test_a_followed_chain_is_ready_and_reports_how_far():
    ChainHeadFactory(head=1000, final=900)
    CoverageFactory(first_block=1, followed_to=1000, verified_to=880)
    # Another chain's failure does not count.
    ChainHeadFactory(chain_id=1, halted="deeper than finality")
    chain = {"chainId": 8453, "head": 1000, "final": 900, "followed": 1000, "verified": 880}
    lag = {"lagBlocks": 0, "lagSeconds": 0.0, "halted": False}
    assert ready(chain="8453") == (200, WELL | {"chain": chain | lag})


def test_without_the_parameter_no_chain_counts():
    ChainHeadFactory(halted="deeper than finality")
    assert ready() == (200, WELL)
    assert ready(other="1") == (200, WELL)


@pytest.mark.django_db(transaction=True)
def test_the_chain_is_null_where_the_database_fails():
    ChainHeadFactory()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE tokens_chainhead RENAME TO set_aside")
        try:
            status, body = ready(chain="8453")
        finally:
            cursor.execute("ALTER TABLE set_aside RENAME TO tokens_chainhead")
    assert (status, body) == (503, WELL | {"status": "failed", "chain": None})


@pytest.mark.django_db(transaction=True)
def test_the_chain_is_null_where_the_database_is_not_ready():
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE django_migrations IN ACCESS EXCLUSIVE MODE")
        status, body = ready(chain="8453")
    assert (status, body["database"], body["chain"]) == (503, "failed", None)
