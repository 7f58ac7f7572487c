"""Leased queues, on every queue's rows: claims, leases, outcomes, states in the admin site, and metrics."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from accounts.models import SocialProfile, WebhookDelivery
from accounts.profiles import social_refresh
from accounts.profiles.social_responses import Profile
from accounts.subscriptions import delivery_outcomes
from config.environment.variables import BASE_DIR
from config.http.errors import RetryableError
from config.postgresql.leased_queue import MAX_UNFINISHED, UNFINISHED, Leased, QueueState
from leaderboard.hub import pulling
from leaderboard.models import HubCast, HubCursor, HubQuote
from tests.processes.at_once import call_at_once, own_connection
from tests.rows.agent_factories import HubCastFactory, HubCursorFactory, HubQuoteFactory
from tests.rows.factories import (
    DeploymentFactory,
    IndexRequestFactory,
    PoolBacklogFactory,
    ProviderRefreshFactory,
    SocialProfileFactory,
    TokenDocumentFactory,
    WebhookDeliveryFactory,
)
from tokens.chains.errors import NodeUnavailableError
from tokens.indexing import index_requests
from tokens.indexing.backlogs import backlog_rounds
from tokens.indexing.documents import fetching
from tokens.market import price_refresh
from tokens.models import IndexRequest, PoolBacklog, ProviderRefresh, TokenDocument

pytestmark = pytest.mark.django_db

LEASE = timedelta(seconds=60)
SECOND = timedelta(seconds=1)


# Queue -> function that creates a row which is due.
QUEUES = {
    IndexRequest: IndexRequestFactory,
    TokenDocument: TokenDocumentFactory,
    ProviderRefresh: ProviderRefreshFactory,
    SocialProfile: partial(SocialProfileFactory, wanted=True),
    HubCursor: HubCursorFactory,
    HubCast: HubCastFactory,
    HubQuote: HubQuoteFactory,
    WebhookDelivery: WebhookDeliveryFactory,
    PoolBacklog: PoolBacklogFactory,
}
each_queue = pytest.mark.parametrize("queue", QUEUES, ids=lambda queue: queue.QUEUE)


def claim(queue, now, **options):
    return queue.objects.claim(now, lease=LEASE, **options)


def test_every_queue_is_tested_here():
    assert set(QUEUES) == {model for model in apps.get_models() if issubclass(model, Leased)}


def test_no_other_module_claims_rows_by_itself():
    packages = [Path(BASE_DIR, name) for name in ("config", "accounts", "tokens", "pretokens", "leaderboard")]
    sources = [file for package in packages for file in package.rglob("*.py") if "migrations" not in file.parts]
    found = {
        str(file.relative_to(BASE_DIR))
        for file in sources
        if re.search(r"skip_locked=True|due_at__lte", file.read_text())
    }
    assert found == {
        "config/postgresql/leased_queue.py",
        # Rows that are passed over and not claimed: overdue pretokens, and deployments, which stay locked until their
        # state is stored.
        "pretokens/lifecycle.py",
        "tokens/deploying/sending/submit.py",
    }


@each_queue
def test_a_claimed_row_is_due_again_after_its_lease(queue):
    QUEUES[queue]()
    now = timezone.now()
    assert claim(queue, now - timedelta(hours=1)) == []
    (row,) = claim(queue, now)
    stored = queue.objects.get()
    assert stored.due_at == stored.leased_until == row.leased_until == now + LEASE
    assert claim(queue, now + LEASE - SECOND) == []
    assert claim(queue, now + LEASE) == [row]


@each_queue
def test_the_longest_due_are_claimed_first_and_no_more_than_wanted(queue):
    now = timezone.now()
    rows = [QUEUES[queue]() for _ in range(4)]
    for row, seconds in zip(rows, (1, 3, 2, 4), strict=True):
        queue.objects.filter(pk=row.pk).update(due_at=now - seconds * SECOND)
    assert claim(queue, now, count=3) == [rows[3], rows[1], rows[2]]
    assert claim(queue, now, count=3) == [rows[0]]


def test_parts_of_a_queue_are_claimed_one_after_the_other():
    known = SocialProfileFactory(due_at=timezone.now() - timedelta(days=9))
    new = [SocialProfileFactory(wanted=True) for _ in range(2)]
    assert set(claim(SocialProfile, timezone.now(), count=2)) == set(new)
    assert claim(SocialProfile, timezone.now(), count=2) == [known]


@pytest.mark.parametrize("status", ["indexed", "confirmed", "failed", "orphaned"])
def test_rows_that_left_the_queue_are_not_claimed(status):
    IndexRequestFactory(status=status)
    assert claim(IndexRequest, timezone.now()) == []
    assert IndexRequest.objects.postpone_due(timezone.now(), by=LEASE, count=1) == []
    assert not IndexRequest.objects.begin(timezone.now(), lease=LEASE)


def in_another_connection(work):
    @own_connection
    def run():
        # Without SKIP LOCKED this thread and the test would wait for each other.
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '5s'")
        return work()

    return run


@pytest.mark.django_db(transaction=True)
def test_a_locked_row_is_left_to_the_transaction_that_has_it():
    locked, *free = IndexRequestFactory.create_batch(3)
    now = timezone.now()
    with transaction.atomic(), ThreadPoolExecutor(1) as pool:
        list(IndexRequest.objects.filter(pk=locked.pk).select_for_update())
        assert pool.submit(in_another_connection(partial(claim, IndexRequest, now, count=1))).result() == free[:1]
        postpone = partial(IndexRequest.objects.postpone_due, now, by=LEASE, count=9)
        assert pool.submit(in_another_connection(postpone)).result() == free[1:]


@pytest.mark.django_db(transaction=True)
def test_workers_at_once_share_the_rows_out():
    SocialProfileFactory.create_batch(300, wanted=True)

    def work():
        claimed = []
        while found := claim(SocialProfile, timezone.now(), count=20):
            claimed += found
        return claimed

    claimed = [row.pk for part in call_at_once([in_another_connection(work)] * 4) for row in part]
    # A worker that finds all rows locked stops early; the locks' holder has them.
    assert len(claimed) == len(set(claimed)) == 300


OUTCOMES = {
    "release": lambda rows: rows.release(due_at=timezone.now()),
    "requeue": lambda rows: rows.requeue(due_at=timezone.now()),
    "fail": lambda rows: rows.fail("late", due_at=timezone.now()),
    "finish": lambda rows: rows.finish(),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("outcome", OUTCOMES.values(), ids=OUTCOMES)
def test_a_worker_whose_lease_expired_stores_nothing_over_the_next_one(outcome):
    """Each worker has its own connection; the first one is late."""
    SocialProfileFactory(wanted=True)
    now = timezone.now()
    late = claim(SocialProfile, now)
    with ThreadPoolExecutor(1) as pool:
        (row,) = pool.submit(in_another_connection(partial(claim, SocialProfile, now + LEASE))).result()
    assert outcome(SocialProfile.objects.held(late)) == 0
    stored = SocialProfile.objects.get()
    assert (stored.leased_until, stored.attempts, stored.last_error) == (now + 2 * LEASE, 0, "")
    assert outcome(SocialProfile.objects.held([row])) == 1
    assert outcome(SocialProfile.objects.held([row])) == 0


def store_quote(row):
    price_refresh._store_quotes([row], {})


def store_profile(row):
    profile = Profile(fid=row.fid, username="late")
    social_refresh._store_profiles(SocialProfile.objects.held([row]), {row.fid: profile}, now=timezone.now())


# Queue -> how its workers store an outcome.
STORES = {
    IndexRequest: lambda row: index_requests._postpone(row, NodeUnavailableError("late"), scheduled=True),
    TokenDocument: lambda row: fetching.store_outcome(row, fetching.FetchOutcome(content={"description": "late"})),
    ProviderRefresh: store_quote,
    SocialProfile: store_profile,
    HubCursor: lambda row: pulling._record_failure(row, RetryableError("late")),
    HubCast: lambda row: pulling._record_failure(row, RetryableError("late")),
    HubQuote: lambda row: pulling._record_failure(row, RetryableError("late")),
    WebhookDelivery: delivery_outcomes.store_missing_event,
    PoolBacklog: lambda row: backlog_rounds._postpone(row, NodeUnavailableError("late")),
}


@each_queue
def test_the_workers_of_each_queue_store_nothing_after_another_has_claimed_the_row(queue):
    QUEUES[queue]()
    now = timezone.now()
    (late,), (next_one,) = claim(queue, now), claim(queue, now + LEASE)
    before = queue.objects.values().get()
    STORES[queue](late)
    assert queue.objects.values().get() == before
    STORES[queue](next_one)
    assert queue.objects.values().get() != before


@each_queue
def test_each_outcome_ends_the_lease_and_counts_what_it_is(queue):
    QUEUES[queue]()
    start, later = timezone.now(), timezone.now() + timedelta(days=1)

    def after(number, name, *arguments, **changes):
        rows = claim(queue, start + number * timedelta(days=2))
        assert getattr(queue.objects.held(rows), name)(*arguments, **changes) == 1
        row = queue.objects.get()
        assert (row.leased_until, row.unfinished) == (None, 0)
        return row.attempts, row.last_error

    assert after(1, "fail", ValueError("no"), due_at=later) == (1, "no")
    assert after(2, "release", due_at=later) == (1, "no")
    assert after(3, "fail", "still no", due_at=later) == (2, "still no")
    assert after(4, "requeue", due_at=later) == (0, "")
    assert after(5, "finish") == (1, "")
    assert queue.objects.update(due_at=start) == 1
    assert after(6, "finish", last_error="gone") == (2, "gone")


@each_queue
def test_a_row_that_ends_its_worker_each_time_is_given_up_and_stays_visible(queue, caplog):
    QUEUES[queue]()
    now = timezone.now()
    for number in range(MAX_UNFINISHED):
        (row,) = claim(queue, now + number * LEASE)
        assert row.unfinished == number
    now += MAX_UNFINISHED * LEASE
    assert claim(queue, now) == []
    row = queue.objects.get()
    assert (row.last_error, row.unfinished, row.leased_until) == (UNFINISHED, 0, None)
    assert f"gave up on 1 rows of the queue {queue.QUEUE}" in caplog.text
    if queue.GIVEN_UP:
        assert queue.objects.in_state(QueueState.GIVEN_UP, now).get() == row
    else:
        assert row.due_at == now + queue.UNFINISHED_DELAY
    # The others are not affected.
    other = QUEUES[queue]()
    assert claim(queue, now) == [other]


@each_queue
def test_every_row_of_a_queue_has_one_state(queue):
    now = timezone.now()
    rows = {name: QUEUES[queue]() for name in ("leased", "expired", "deferred", "waiting")}
    queue.objects.filter(pk=rows["leased"].pk).update(due_at=now + LEASE, leased_until=now + LEASE)
    queue.objects.filter(pk=rows["expired"].pk).update(due_at=now, leased_until=now)
    queue.objects.filter(pk=rows["deferred"].pk).update(due_at=now + LEASE, leased_until=None)
    queue.objects.filter(pk=rows["waiting"].pk).update(due_at=now, leased_until=None)
    found = {state: set(queue.objects.in_state(state, now)) for state in QueueState}
    assert found == {
        QueueState.WAITING: {rows["waiting"], rows["expired"]},
        QueueState.LEASED: {rows["leased"]},
        QueueState.DUE_AGAIN: {rows["deferred"]},
        QueueState.GIVEN_UP: set(),
    }


@each_queue
def test_operators_filter_rows_by_their_state(queue, operator):
    waiting, leased = QUEUES[queue](), QUEUES[queue]()
    queue.objects.filter(pk=leased.pk).claim(timezone.now(), lease=LEASE)
    page = f"/admin/{queue._meta.app_label}/{queue._meta.model_name}/"

    def shown(state):
        return list(operator.get(page, {"queue": state}).context["cl"].queryset)

    assert (shown("waiting"), shown("leased"), shown("due_again")) == ([waiting], [leased], [])
    assert ("queue=given_up" in operator.get(page).text) == bool(queue.GIVEN_UP)
    if queue.GIVEN_UP:
        queue.objects.filter(pk=waiting.pk).update(**queue.GIVEN_UP)
        assert (shown("waiting"), shown("given_up")) == ([], [waiting])
    assert operator.get(page, {"queue": "unheard-of"}).headers["Location"] == f"{page}?e=1"


def measured():
    """Return (metric, queue) -> number."""
    families = text_string_to_metric_families(Client().get("/metrics").text)
    samples = [sample for family in families for sample in family.samples]
    return {
        (sample.name.removeprefix("launchboard_queue_"), sample.labels["queue"]): sample.value
        for sample in samples
        if sample.name.startswith("launchboard_queue_")
    }


def test_each_queue_has_its_depth_and_its_age(settings):
    for queue in QUEUES:
        for name in queue.ENABLED_BY:
            setattr(settings, name, [8453])
    names = [*(queue.QUEUE for queue in QUEUES), "deployments"]
    assert measured() == {(metric, name): 0 for metric in ("depth", "age_seconds") for name in names}
    now = timezone.now()
    for queue, new in QUEUES.items():
        rows = [new() for _ in range(3)]
        queue.objects.all().requeue(due_at=now + timedelta(days=1))
        queue.objects.filter(pk__in=[row.pk for row in rows[:2]]).update(due_at=now - timedelta(hours=1))
    DeploymentFactory.create_batch(2, created_at=now - timedelta(hours=1))
    found = measured()
    assert {found["depth", name] for name in names} == {2}
    assert all(3600 <= found["age_seconds", name] < 3700 for name in names)


@each_queue
def test_a_queue_that_is_turned_off_has_no_age(queue, settings):
    QUEUES[queue]()
    for name in queue.ENABLED_BY:
        setattr(settings, name, type(getattr(settings, name))())
    found = measured()
    assert found["depth", queue.QUEUE] == 1
    assert bool(found["age_seconds", queue.QUEUE]) == (not queue.ENABLED_BY)


@each_queue
def test_due_rows_are_read_from_an_index(queue):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
    for part in queue.PARTS:
        plan = queue.objects.filter(part).due(timezone.now())[:10].explain()
        assert "Index Scan using" in plan and "_due on" in plan and "Sort" not in plan
