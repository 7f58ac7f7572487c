"""GET /metrics: access and values."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, connections, transaction
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from tests.processes.waiting import wait_for
from tests.rows.agent_factories import SnapshotFactory
from tests.rows.factories import (
    ChainHeadFactory,
    CoverageAlarmFactory,
    CoverageFactory,
    DeploymentFactory,
    DeployWalletFactory,
    FollowedBlockFactory,
    IndexRequestFactory,
    TokenFactory,
    WebhookDeliveryFactory,
)
from tokens.models import DeploySwitch, IndexRequest

pytestmark = pytest.mark.django_db

TOKEN = "a-token-of-sixteen"


def scrape(**options):
    return Client().get("/metrics", **options)


def numbers(label="chain"):
    """Return (name, value of the label) -> number; the label is empty if there is none."""
    answer = scrape()
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.text)
    return {
        (sample.name.removeprefix("launchboard_"), sample.labels.get(label, "")): sample.value
        for family in families
        for sample in family.samples
    }


@pytest.mark.parametrize("remote", ["192.0.2.1", "10.0.0.1", "2001:db8::1", "::2", "", "unix:", "not an address"])
def test_strangers_do_not_find_it(remote):
    answer = scrape(REMOTE_ADDR=remote)
    assert (answer.status_code, answer.json()) == (404, {"error": "Not found"})
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
@pytest.mark.parametrize("value", ["198.51.100.7", "127.0.0.1", ""])
def test_a_caller_through_an_untrusted_proxy_of_this_machine_is_a_stranger(settings, header, value):
    settings.TRUSTED_PROXIES = 0
    assert scrape(headers={header: value}).status_code == 404


@pytest.mark.parametrize("forwarded", ["198.51.100.7", "127.0.0.1, 198.51.100.7", "unknown", "", "127.0.0.1,"])
def test_the_caller_of_a_trusted_proxy_counts(settings, forwarded):
    settings.TRUSTED_PROXIES = 1
    assert scrape(headers={"X-Forwarded-For": forwarded}).status_code == 404


@pytest.mark.parametrize("remote", ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"])
def test_programs_of_this_machine_are_answered_where_no_token_is_set(remote):
    assert scrape(REMOTE_ADDR=remote).status_code == 200


def test_a_program_beside_a_trusted_proxy_is_answered(settings):
    settings.TRUSTED_PROXIES = 1
    assert scrape().status_code == 200
    assert scrape(headers={"X-Forwarded-For": "127.0.0.1"}).status_code == 200


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer ", TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer é"]
)
def test_without_the_token_no_caller_is_answered_where_one_is_set(settings, given):
    settings.METRICS_TOKEN = TOKEN
    answer = scrape(headers={"Authorization": given} if given else {})
    assert (answer.status_code, answer.json()) == (401, {"error": "Unauthorized"})
    assert (answer["WWW-Authenticate"], answer["Cache-Control"]) == ("Bearer", "no-store")


@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
def test_with_the_token_every_caller_is_answered(settings, scheme):
    settings.METRICS_TOKEN = TOKEN
    answer = scrape(headers={"Authorization": f"{scheme} {TOKEN}"}, REMOTE_ADDR="192.0.2.1")
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [("", "text/plain"), ("text/html", "text/plain"), ("application/openmetrics-text; version=1.0.0", "openmetrics")],
)
def test_it_has_the_formats_of_prometheus_and_is_never_cached(accept, content_type):
    answer = scrape(headers={"Accept": accept})
    assert content_type in answer["Content-Type"]
    assert answer["Cache-Control"] == "no-store"
    assert "RateLimit-Limit" not in answer


@pytest.mark.parametrize("token", ["", TOKEN])
def test_it_is_answered_without_redirect_to_https_and_for_allowed_hosts_only(settings, token):
    settings.SECURE_SSL_REDIRECT, settings.METRICS_TOKEN = True, token
    settings.ALLOWED_HOSTS = ["launchboard.internal"]
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    assert scrape(headers={"host": "launchboard.internal:8000", **headers}).status_code == 200
    refused = scrape(headers={"host": "evil.example", **headers})
    assert (refused.status_code, refused.json()) == (400, {"error": "Bad request"})
    for probe in ("/healthz", "/readyz"):
        assert Client().get(probe, headers={"host": "evil.example"}).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_it_does_not_wait_for_a_locked_table(caplog):
    """The lock is held by another connection for as long as the scrape lasts."""
    locked, done = threading.Event(), threading.Event()

    def hold():
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE tokens_chainhead IN ACCESS EXCLUSIVE MODE")
            locked.set()
            done.wait(120)
        connections.close_all()

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        wait_for(locked.is_set)
        answer = scrape()
    finally:
        done.set()
        holder.join()
    assert (answer.status_code, answer.json()) == (503, {"error": "Service is temporarily unavailable"})
    assert "Metrics: the database failed" in caplog.text
    assert scrape().status_code == 200


def test_an_empty_installation_has_numbers():
    found = numbers()
    assert found["tokens_listed", ""] == found["index_requests_pending", ""] == 0
    assert not any(name.startswith(("chain_", "coverage_", "deploy_wallet", "leaderboard_")) for name, _ in found)


def test_each_chain_has_its_blocks_and_its_lag():
    now = timezone.now()
    ChainHeadFactory(head=1000, final=900, followed=990)
    FollowedBlockFactory(number=990, at=now - timedelta(hours=1))
    CoverageFactory(first_block=1, followed_to=800, verified_to=700)
    CoverageFactory(first_block=1, followed_to=990, verified_to=600)
    CoverageFactory(first_block=1, last_block=50, followed_to=20, verified_to=10)
    ChainHeadFactory(chain_id=1, halted="deeper than finality", error="no answer")
    found = numbers()
    expected = {"head": 1000, "final": 900, "followed": 990, "covered": 800, "verified": 600}
    assert {name: found[f"chain_{name}_block", "8453"] for name in expected} == expected
    assert found["chain_lag_blocks", "8453"] == 10
    assert 3600 <= found["chain_lag_seconds", "8453"] < 3700
    assert [found[f"chain_{name}", "8453"] for name in ("halted", "trouble")] == [0, 0]
    assert [found[f"chain_{name}", "1"] for name in ("halted", "trouble", "lag_blocks", "lag_seconds")] == [1, 1, 0, 0]
    assert ("chain_verified_block", "1") not in found


def test_a_chain_that_was_never_followed_has_no_lag():
    ChainHeadFactory(followed=None)
    assert not {("chain_followed_block", "8453"), ("chain_lag_seconds", "8453")} & numbers().keys()


@pytest.mark.parametrize(
    ("row", "lag"),
    [
        # It is at the head, which a node reported recently, or long ago.
        ({"followed": 100, "seen_at": 20}, 0),
        ({"followed": 100, "seen_at": 500}, 500),
        # After a reorg the follower is ahead for a moment.
        ({"followed": 101, "seen_at": 1}, 0),
        # The head itself waits; the time without blocks before it does not count.
        ({"followed": 99, "seen_at": 1, "head_at": 3, "followed_at": 900}, 3),
        ({"followed": 98, "seen_at": 1, "head_at": 3, "followed_at": 900}, 900),
        # The chain's clock is ahead.
        ({"followed": 98, "seen_at": 1, "head_at": -900, "followed_at": -800}, 0),
    ],
)
def test_the_lag_is_how_long_something_waits(settings, row, lag):
    settings.FOLLOW_POLL_SECONDS = 2
    now = timezone.now()
    past = {name: now - timedelta(seconds=row.get(name, 1)) for name in ("head_at", "seen_at")}
    ChainHeadFactory(head=100, followed=row["followed"], **past)
    if "followed_at" in row:
        FollowedBlockFactory(number=row["followed"], at=now - timedelta(seconds=row["followed_at"]))
    assert lag <= numbers()["chain_lag_seconds", "8453"] <= (lag and lag + 60)


def test_rare_polls_for_blocks_are_no_lag(settings):
    settings.FOLLOW_POLL_SECONDS = 60
    ChainHeadFactory(seen_at=timezone.now() - timedelta(seconds=150))
    assert numbers()["chain_lag_seconds", "8453"] == 0


def test_what_checks_found_is_summed_for_each_chain():
    ChainHeadFactory()
    CoverageAlarmFactory(chain_id=1, missing=3, invented=1)
    CoverageAlarmFactory(chain_id=1, missing=4, seen_at=timezone.now())
    found = numbers()
    names = ("coverage_missing_total", "coverage_invented_total", "coverage_alarms_unseen")
    assert [found[name, "1"] for name in names] == [7, 1, 1]
    # A counter that came with its first alarm would show no increase.
    assert [found[name, "8453"] for name in names] == [0, 0, 0]


def test_index_requests_and_tokens_are_counted():
    IndexRequestFactory(due_at=timezone.now() - timedelta(seconds=100))
    IndexRequestFactory.create_batch(2, status="failed")
    IndexRequestFactory.create_batch(3, status="confirmed")
    TokenFactory.create_batch(2)
    TokenFactory(blocked=True)
    found = numbers("status")
    statuses = {status: number for (name, status), number in found.items() if name == "index_requests_newest"}
    assert statuses == {"pending": 1, "indexed": 0, "confirmed": 3, "failed": 2, "orphaned": 0}
    assert found["index_requests_pending", ""] == 1
    assert found["tokens_listed", ""] == 2


def test_transactions_that_cannot_be_decoded_are_counted_until_they_are_indexed():
    requests = IndexRequestFactory.create_batch(2, chain_id=101, status="failed", undecodable=True)
    IndexRequestFactory(chain_id=101, status="failed")
    name = "index_requests_undecodable"
    found = numbers("chain")
    assert (found[name, "101"], found[name, "8453"]) == (2, 0)
    IndexRequest.objects.filter(pk=requests[0].pk).finish(status="confirmed", undecodable=False)
    assert numbers("chain")[name, "101"] == 1


def test_deployments_are_counted_by_what_is_left_to_do():
    now = timezone.now()
    DeploymentFactory(chain_id=1, created_at=now - timedelta(seconds=100))
    DeploymentFactory(chain_id=1, status="submitted", created_at=now - timedelta(seconds=300))
    # A presale is in a block, and sells for days.
    DeploymentFactory(chain_id=1, status="mined", created_at=now - timedelta(days=3))
    DeploymentFactory(chain_id=1, status="failed", created_at=now - timedelta(days=3))
    DeploymentFactory(chain_id=8453, status="indexed", final_at=now)
    DeploySwitch.objects.create(chain_id=8453, paused=True)
    by_status, found = numbers("status"), numbers()
    assert {status: by_status["deployments_newest", status] for status in ("enqueued", "mined", "failed")} == {
        "enqueued": 1,
        "mined": 1,
        "failed": 1,
    }
    # Counted by when it failed.
    assert (found["deployments_failed", "1"], found["deployments_failed", "8453"]) == (1, 0)
    assert 300 <= found["deployments_oldest_seconds", "1"] < 400
    assert found["deployments_oldest_seconds", "8453"] == 0
    assert (found["deployments_paused", "1"], found["deployments_paused", "8453"]) == (0, 1)
    assert 'launchboard_deployments_open{chain="1",status="submitted"} 1.0' in scrape().text
    assert 'launchboard_deployments_open{chain="8453",status="submitted"} 0.0' in scrape().text


def test_wallets_have_their_balance_and_errors():
    rich = DeployWalletFactory(balance=10**18)
    poor = DeployWalletFactory(balance=1, alerts={"balance": "less than 0.05 of the native coin is left"})
    new = DeployWalletFactory(balance=None)
    lost = DeployWalletFactory(signable=False)
    found = numbers("address")
    names = ("deploy_wallet_balance_wei", "deploy_wallet_low", "deploy_wallet_trouble")
    assert [found[name, rich.address] for name in names] == [10**18, 0, 0]
    assert [found[name, poor.address] for name in names] == [1, 1, 1]
    assert [found[name, new.address] for name in names[1:]] == [0, 0]
    assert (names[0], new.address) not in found and (names[1], lost.address) not in found


def test_the_current_ranking_of_each_interval_has_its_age():
    now = timezone.now()
    SnapshotFactory(ranked=12, took_seconds=3.5, computed_at=now - timedelta(seconds=100))
    SnapshotFactory(is_current=False, replaced_at=now, ranked=99, computed_at=now - timedelta(days=1))
    SnapshotFactory(interval="30d", computed_at=now)
    found = numbers("interval")
    assert 100 <= found["leaderboard_age_seconds", "24h"] < 160 and found["leaderboard_age_seconds", "30d"] < 60
    assert (found["leaderboard_making_seconds", "24h"], found["leaderboard_ranked_agents", "24h"]) == (3.5, 12)
    assert ("leaderboard_age_seconds", "7d") not in found


def test_it_takes_few_queries_whatever_there_is(django_assert_max_num_queries):
    for chain_id in range(1, 20):
        ChainHeadFactory(chain_id=chain_id)
        CoverageFactory.create_batch(3, chain_id=chain_id)
        CoverageAlarmFactory.create_batch(3, chain_id=chain_id)
        DeploymentFactory(chain_id=chain_id)
        DeployWalletFactory(chain_id=chain_id)
    IndexRequestFactory.create_batch(20)
    WebhookDeliveryFactory.create_batch(20)
    # Two of them are a savepoint's.
    with django_assert_max_num_queries(40):
        scrape()
