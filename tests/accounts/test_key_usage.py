"""Usage counts of keys: no call is counted twice, and none that is stored in Redis is lost."""

import signal
from datetime import timedelta

import pytest
from django.db import connections
from django.urls import path
from django.utils import timezone
from redis import Redis
from rest_framework.response import Response

from accounts import tasks
from accounts.authentication import PartnerKeyAuthentication
from accounts.keys import credentials as keys
from accounts.keys import usage
from accounts.keys.usage import DayOfCalls
from accounts.models import KeyUsage, PartnerKey, Scope, UsageBatch
from config.api.throttling import IndexLimit
from config.api.views import LimitedView
from config.celery import app as celery_app
from config.redis import call_counts
from config.urls import urlpatterns as service_urls
from tests.processes.at_once import blocked_sessions, call_at_once
from tests.processes.service_processes import service
from tests.processes.waiting import wait_for
from tests.rows.factories import PartnerKeyFactory

pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__), pytest.mark.usefixtures("no_calls")]

READ, LOOKUP, INDEX = "/api/tokens/authenticated", "/api/get-token-by-address", "/api/tokens/index"


class TwiceView(LimitedView):
    authentication_classes = [PartnerKeyAuthentication]
    throttle_classes = [IndexLimit]

    def get(self, request):
        return Response({})


urlpatterns = [path("api/twice", TwiceView.as_view(), name="twice"), *service_urls]


@pytest.fixture
def header():
    return {"x-api-key": keys.issue_key("Acme", scopes=[Scope.READ])}


def stored():
    """Return endpoint -> calls of the only key."""
    usage.store_counted()
    return dict(KeyUsage.objects.values_list("endpoint", "calls"))


def count(key, *, times=1, endpoint="token-list", day=None):
    field = call_counts.count_field(day=day or timezone.now().date(), caller=key.pk, endpoint=endpoint)
    for _ in range(times):
        call_counts.increment_count(field)


@pytest.mark.parametrize("limit", [0, 2])
def test_it_counts_the_calls_of_a_key_by_endpoint_whatever_they_are_answered(client, header, settings, limit):
    settings.RATE_LIMIT_KEYED = settings.RATE_LIMIT_INDEX = limit
    for address in (READ, READ, f"{READ}?limit=nonsense", LOOKUP, READ + "/"):
        client.get(address, headers=header)
    status = client.post(INDEX, "{}", content_type="application/json", headers=header).status_code
    assert status == (429 if limit else 403)
    assert stored() == {"token-list-authenticated": 4, "token-by-address": 1, "token-index": 1}
    assert {row.day for row in KeyUsage.objects.all()} == {timezone.now().date()}


def test_it_counts_nothing_of_public_calls_and_refused_keys(client, header):
    client.get("/api/tokens", headers=header)
    client.get(READ)
    client.get(READ, headers={"x-api-key": "lb_live_nonsense"})
    assert stored() == {}


@pytest.mark.parametrize(("keyed", "index"), [(0, 0), (9, 0), (0, 9), (9, 9)])
def test_it_counts_a_call_once_however_many_limits_it_has(client, header, settings, keyed, index):
    settings.RATE_LIMIT_KEYED, settings.RATE_LIMIT_INDEX = keyed, index
    client.get("/api/twice", headers=header)
    assert stored() == {"twice": 1}


def test_it_counts_all_secrets_of_a_key_together_and_each_key_by_itself(client, header):
    second = {"x-api-key": keys.rotate_key(PartnerKey.objects.get())}
    other = {"x-api-key": keys.issue_key("Other", scopes=[Scope.READ])}
    for headers in (header, second, other):
        client.get(READ, headers=headers)
    usage.store_counted()
    assert dict(KeyUsage.objects.values_list("partner_key__name", "calls")) == {"Acme": 2, "Other": 1}


@pytest.mark.parametrize("limit", [0, 2])
def test_calls_pass_while_redis_is_away(client, header, settings, unused_port, limit):
    settings.RATE_LIMIT_KEYED = limit
    settings.REDIS_URL = f"redis://127.0.0.1:{unused_port}/0"
    assert {client.get(READ, headers=header).status_code for _ in range(4)} == {200}
    with pytest.raises(call_counts.CountsUnavailableError):
        usage.store_counted()
    tasks.store_key_usage()
    assert not KeyUsage.objects.exists()


def test_it_writes_nothing_to_the_database_while_calls_come(client, header, django_assert_num_queries):
    client.get(LOOKUP, headers=header)
    with django_assert_num_queries(1):
        # The key's row; the address is refused.
        client.get(LOOKUP, headers=header)


def test_it_adds_to_what_is_stored():
    key, today = PartnerKeyFactory(), timezone.now().date()
    yesterday = today - timedelta(days=1)
    for _ in range(2):
        count(key, times=3)
        count(key, day=yesterday)
        count(key, endpoint="token-index")
        assert usage.store_counted() == 5
    assert usage.store_counted() == 0
    rows = KeyUsage.objects.values_list("day", "endpoint", "calls").order_by("day", "endpoint")
    assert list(rows) == [(yesterday, "token-list", 2), (today, "token-index", 2), (today, "token-list", 6)]


def test_a_batch_that_is_stored_and_not_dropped_is_added_once():
    key = PartnerKeyFactory()
    count(key, times=3)
    batch = call_counts.take_batch()
    assert usage.store_batch(batch) == 3
    # The worker that stored it was killed here. Calls go on, and belong to the next batch.
    count(key, times=2)
    assert call_counts.take_batch() == batch
    assert stored() == {"token-list": 5}
    assert call_counts.take_batch() is None


def test_a_batch_that_was_taken_and_not_stored_is_not_lost():
    key = PartnerKeyFactory()
    count(key, times=3)
    taken = call_counts.take_batch()
    count(key)
    assert sum(taken.counts.values()) == 3
    assert stored() == {"token-list": 4}


def test_dropping_late_leaves_the_batch_of_others():
    key = PartnerKeyFactory()
    count(key)
    late = call_counts.take_batch()
    usage.store_counted()
    count(key, times=2)
    current = call_counts.take_batch()
    call_counts.drop_batch(late)
    assert call_counts.take_batch() == current
    assert stored() == {"token-list": 3}


def test_an_old_copy_of_redis_adds_nothing_again(settings):
    key = PartnerKeyFactory()
    count(key, times=3)
    with Redis.from_url(settings.REDIS_URL) as client:
        copy = client.dump(call_counts.LIVE)
        count(key)
        assert stored() == {"token-list": 4}
        client.restore(call_counts.LIVE, 0, copy)
    assert stored() == {"token-list": 4}
    count(key)
    assert stored() == {"token-list": 5}


def test_calls_of_a_key_that_is_gone_keep_no_others_from_being_stored():
    gone, key = PartnerKeyFactory(), PartnerKeyFactory()
    count(gone)
    count(key)
    gone.delete()
    assert usage.store_counted() == 1
    assert KeyUsage.objects.get().partner_key == key


@pytest.mark.django_db(transaction=True)
def test_several_workers_that_store_at_once_add_each_call_once():
    key = PartnerKeyFactory()
    for _ in range(10):
        count(key, times=20)
        assert sum(call_at_once([usage.store_counted] * 4)) == 20
    assert stored() == {"token-list": 200}


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_killed_while_it_stores_neither_loses_nor_doubles_a_call(service_environment, settings):
    settings.REDIS_URL = service_environment["REDIS_URL"]
    key = PartnerKeyFactory()
    count(key, times=7)
    other = connections["default"].copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("LOCK TABLE accounts_keyusage IN ACCESS EXCLUSIVE MODE")
            with service("worker", service_environment) as worker:
                broker = settings.REDIS_URL.replace("unix://", "redis+socket://").replace("?db", "?virtual_host")
                with celery_app.connection_for_write(broker) as to:
                    tasks.store_key_usage.apply_async(connection=to)
                # It has taken the batch and begun to add it.
                wait_for(blocked_sessions)
                worker.kill()
            assert worker.process.returncode == -signal.SIGKILL
            # Calls go on meanwhile.
            count(key, times=2)
            cursor.execute("COMMIT")
    finally:
        other.close()
    assert stored() == {"token-list": 9}
    assert UsageBatch.objects.count() == 2


def test_it_returns_each_of_a_keys_last_days_and_nothing_of_other_keys():
    key, today = PartnerKeyFactory(), timezone.now().date()
    for days_ago, endpoint, calls in ((0, "a", 1), (0, "b", 2), (2, "a", 4), (3, "a", 8)):
        KeyUsage.objects.create(partner_key=key, day=today - timedelta(days_ago), endpoint=endpoint, calls=calls)
    KeyUsage.objects.create(partner_key=PartnerKeyFactory(), day=today, endpoint="a", calls=16)
    days = [today - timedelta(days_ago) for days_ago in (2, 1, 0)]
    expected = [DayOfCalls(day, calls) for day, calls in zip(days, (4, 0, 3), strict=True)]
    assert usage.calls_of_key(key, days=3) == (expected, [("a", 5), ("b", 2)])


def test_it_keeps_days_and_batches_as_long_as_it_should(settings):
    settings.KEY_USAGE_DAYS = 2
    key, now = PartnerKeyFactory(), timezone.now()
    for days_ago in range(4):
        KeyUsage.objects.create(partner_key=key, day=now.date() - timedelta(days_ago), endpoint="a", calls=1)
    UsageBatch.objects.create(name="old", added_at=now - timedelta(days=31))
    UsageBatch.objects.create(name="new")
    tasks.prune_key_usage()
    assert KeyUsage.objects.count() == 2
    assert UsageBatch.objects.get().name == "new"


def test_the_keys_page_shows_its_calls_by_day(operator):
    key, today = PartnerKeyFactory(), timezone.now().date()
    KeyUsage.objects.create(partner_key=key, day=today, endpoint="a", calls=4321)
    page = operator.get(f"/admin/accounts/partnerkey/{key.pk}/change/").content.decode()
    assert f"<title>{today:%d %b}: 4321</title>" in page
    assert f"<title>{today - timedelta(13):%d %b}: 0</title>" in page
