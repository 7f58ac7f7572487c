"""Event delivery: what is sent, what counts as accepted, the schedule, and when an endpoint ends."""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from ipaddress import ip_network
from threading import Event as StopEvent

import psycopg
import pytest
from django.core import mail
from django.utils import timezone

from accounts.models import Scope, WebhookDelivery, WebhookEndpoint
from accounts.subscriptions import deliveries, delivery_outcomes, endpoints, sending
from accounts.subscriptions.dispatcher import CLAIMED, FAST_ATTEMPTS, SLOW_SECONDS, Dispatcher
from accounts.subscriptions.webhook_secrets import endpoint_secret
from config.environment.variables import BASE_DIR
from config.events.models import Event, OutboxEvent
from config.postgresql.leased_queue import MAX_UNFINISHED
from config.processes.stop_signals import GRACE_SECONDS
from development.standins.loopback import Reply
from tests.accounts.subscriptions.subscribers import add_endpoint, queue_events
from tests.nodes.webhook_receiver import Receiver, always, drip, hang, huge, webhook_receiver
from tests.processes.service_processes import service
from tests.processes.waiting import wait_for
from tests.rows.factories import PartnerKeyFactory

pytestmark = pytest.mark.django_db

LEASE = timedelta(seconds=60)
VERIFY_IN_NODE = """
import {Webhook} from "./node_modules/standardwebhooks/dist/index.js";
const {secret, body, headers} = JSON.parse(process.argv[1]);
console.log(JSON.stringify(new Webhook(secret).verify(body, headers)));
"""


@pytest.fixture(autouse=True)
def loopback_allowed(settings) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = (ip_network("127.0.0.1"),)
    settings.WEBHOOK_TIMEOUT_SECONDS = 0.5


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with webhook_receiver() as running:
        yield running


def attempt(delivery: WebhookDelivery) -> WebhookDelivery:
    """Make a delivery's next attempt as a dispatcher thread does, and return the row."""
    WebhookDelivery.objects.filter(pk=delivery.pk).update(due_at=timezone.now())
    (claimed,) = WebhookDelivery.objects.filter(pk=delivery.pk).claim(timezone.now(), lease=LEASE, count=1)
    event = Event.objects.filter(pk=claimed.event_id).first()
    delivery_outcomes.store_attempt(claimed, claimed.endpoint, sending.send_delivery(claimed.endpoint, claimed, event))
    claimed.refresh_from_db()
    return claimed


def delay_of(delivery: WebhookDelivery) -> float:
    return (delivery.due_at - timezone.now()).total_seconds()


def test_the_message_is_the_event_signed_as_the_standard_says(receiver):
    endpoint = add_endpoint(receiver)
    done = attempt(queue_events()[0])
    (message,) = receiver.received
    event = Event.objects.get()
    assert message.is_genuine and message.message_id == f"evt_{event.pk}"
    assert message.event["id"] == event.pk and message.event["data"] == {"name": "é"}
    assert message.headers["content-type"] == "application/json"
    assert (done.status, done.attempts, done.last_error) == ("delivered", 1, "")
    (entry,) = done.log
    assert entry.items() >= {"status": 204, "bytes": 0, "error": ""}.items() and entry["ms"] >= 0
    assert endpoint.salt not in message.body


def test_the_library_for_javascript_verifies_it_too(receiver):
    endpoint = add_endpoint(receiver)
    endpoints.rotate_secret(endpoint)
    attempt(queue_events()[0])
    (message,) = receiver.received
    # The receiver still has the secret from before the rotation.
    given = json.dumps({"secret": receiver.secret, "body": message.body.decode(), "headers": message.headers})
    run = subprocess.run(
        [shutil.which("node"), "--input-type=module", "--eval", VERIFY_IN_NODE, given],
        cwd=BASE_DIR / "development" / "devchain",
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["type"] == "token.indexed"


def test_a_rotation_signs_by_both_secrets_for_a_day(receiver):
    endpoint = add_endpoint(receiver)
    former = receiver.secret
    endpoints.rotate_secret(endpoint)
    attempt(queue_events()[0])
    receiver.secret = endpoint_secret(endpoint)
    attempt(queue_events()[0])
    assert [message.is_genuine for message in receiver.received] == [True, True]
    assert receiver.secret != former
    WebhookEndpoint.objects.update(previous_expires_at=timezone.now())
    receiver.secret = former
    attempt(queue_events()[0])
    assert receiver.received[-1].is_genuine is False


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_any_2xx_is_accepted(receiver, status):
    add_endpoint(receiver)
    receiver.behave = always(status)
    assert attempt(queue_events()[0]).status == "delivered"


@pytest.mark.parametrize(
    ("behave", "error"),
    [
        (always(301, location="http://169.254.169.254/"), "HTTP status 301"),
        (always(302, location="/elsewhere"), "HTTP status 302"),
        (always(400), "HTTP status 400"),
        (always(500, body=b"secret of a private service"), "HTTP status 500"),
        (hang, "a response that takes too long"),
        (drip, "a response that takes too long"),
    ],
)
def test_everything_else_is_a_failure_without_the_content(receiver, behave, error):
    add_endpoint(receiver)
    receiver.behave = behave
    failed = attempt(queue_events()[0])
    assert (failed.status, failed.attempts, failed.last_error) == ("pending", 1, error)
    assert "secret" not in json.dumps(failed.log) and len(receiver.received) == 1


def test_a_huge_response_is_read_to_a_bound(receiver):
    add_endpoint(receiver)
    receiver.behave = huge
    done = attempt(queue_events()[0])
    assert (done.status, done.log[0]["bytes"]) == ("delivered", 16_384)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/hook", "https://10.0.0.1/hook", "https://169.254.169.254/"])
def test_private_addresses_are_refused_at_the_connection(settings, receiver, url):
    settings.WEBHOOK_ALLOWED_NETWORKS = ()
    add_endpoint(receiver)
    WebhookEndpoint.objects.update(url=url)
    failed = attempt(queue_events()[0])
    assert failed.last_error.startswith("a host without a public address") and failed.log[0]["status"] is None


def test_the_schedule_ends_after_its_last_attempt(receiver, settings):
    settings.WEBHOOK_SCHEDULE_SECONDS = (0, 5, 300)
    add_endpoint(receiver)
    receiver.behave = always(500)
    delivery = queue_events()[0]
    assert delay_of(delivery) <= 0
    assert 0 < delay_of(attempt(delivery)) <= 5
    assert 200 < delay_of(attempt(delivery)) <= 300
    ended = attempt(delivery)
    assert (ended.status, ended.attempts, len(ended.log)) == ("failed", 3, 3)


def test_the_default_schedule_takes_three_days(settings):
    assert sum(settings.WEBHOOK_SCHEDULE_SECONDS) / 3600 == pytest.approx(75.6, abs=0.02)


@pytest.mark.parametrize(
    ("status", "retry_after", "delay", "pause"),
    [
        (429, "3600", 3600, 3600),
        (503, "7200", 7200, 3600),
        (429, "", 5, 10),
        (502, "", 5, 10),
        (504, "nonsense", 5, 10),
    ],
)
def test_an_overloaded_endpoint_is_given_time(receiver, status, retry_after, delay, pause):
    endpoint = add_endpoint(receiver)
    receiver.behave = always(status, retry_after=retry_after)
    failed = attempt(queue_events()[0])
    assert delay - 4 < delay_of(failed) <= delay
    endpoint.refresh_from_db()
    assert pause - 4 < (endpoint.paused_until - timezone.now()).total_seconds() <= pause


def test_a_paused_endpoint_gets_nothing_until_then(receiver):
    endpoint = add_endpoint(receiver, paused_until=timezone.now() + timedelta(hours=1))
    queue_events()
    with Dispatcher(StopEvent(), threads=2) as dispatcher:
        assert dispatcher.dispatch() == 0
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(paused_until=timezone.now())
        assert dispatcher.dispatch() == 1


def test_the_end_of_a_delivery_leads_to_the_next_look(transactional_db, receiver):
    add_endpoint(receiver)
    queue_events(2)
    with Dispatcher(StopEvent(), threads=2) as dispatcher:
        # A new endpoint has one delivery at a time.
        assert dispatcher.dispatch() == 1
        assert wait_for(dispatcher.look.is_set)
        assert dispatcher.dispatch() == 1


def test_410_disables_and_cancels_what_is_queued(receiver):
    endpoint = add_endpoint(receiver)
    first, second = queue_events(2)
    receiver.behave = always(410)
    assert attempt(first).status == "failed"
    endpoint.refresh_from_db()
    second.refresh_from_db()
    assert endpoint.disabled_at is not None and "410" in endpoint.disabled_reason
    assert (second.status, second.last_error) == ("cancelled", "the endpoint was disabled")
    assert queue_events() == []


def test_days_of_failures_are_notified_and_then_disable(receiver, settings, django_capture_on_commit_callbacks):
    settings.EMAIL_HOST, settings.OPERATOR_EMAILS = "mail.example", ("a@b.example",)
    partner = PartnerKeyFactory(scopes=["webhooks"])
    endpoint = add_endpoint(receiver, partner_key=partner, email="owner@partner.example", types=["token.indexed"])
    receiver.behave = always(500)
    delivery = queue_events()[0]

    def fail_since(**ago):
        WebhookEndpoint.objects.update(failing_since=timezone.now() - timedelta(**ago))
        with django_capture_on_commit_callbacks(execute=True):
            attempt(delivery)
        endpoint.refresh_from_db()
        return list(OutboxEvent.objects.values_list("type", "owner_id"))

    assert fail_since(days=2) == [] and endpoint.warned_at is None
    assert fail_since(days=2, hours=13) == [("endpoint.failing", partner.pk)]
    assert fail_since(days=3) == [("endpoint.failing", partner.pk)]
    assert endpoint.disabled_at is None
    assert fail_since(days=5) == [("endpoint.failing", partner.pk), ("endpoint.disabled", partner.pk)]
    assert endpoint.disabled_reason == "nothing but failures for 5 days"
    subjects = [(message.subject, message.to) for message in mail.outbox]
    assert subjects == [
        (f"Webhook endpoint is {state}", [to])
        for state in ("failing", "disabled")
        for to in ("owner@partner.example", "a@b.example")
    ]


def test_a_success_ends_the_failures(receiver):
    endpoint = add_endpoint(receiver, failing_since=timezone.now(), warned_at=timezone.now())
    attempt(queue_events()[0])
    endpoint.refresh_from_db()
    assert (endpoint.failing_since, endpoint.warned_at) == (None, None)


def test_a_test_has_one_attempt_and_proves_no_failure(receiver):
    endpoint = add_endpoint(receiver)
    for status in (500, 410, 429):
        receiver.behave = always(status)
        ended = attempt(deliveries.queue_test(endpoint))
        endpoint.refresh_from_db()
        assert ended.status == "failed"
        assert (endpoint.failing_since, endpoint.disabled_at, endpoint.paused_until) == (None, None, None)
    receiver.behave = always(200)
    assert attempt(deliveries.queue_test(endpoint)).status == "delivered"
    assert receiver.received[-1].event["type"] == "webhook.test" and receiver.received[-1].message_id.startswith(
        "test_"
    )


def test_a_publication_that_is_late_for_a_deleted_endpoint_is_repeated(transactional_db, service_environment, receiver):
    endpoint = add_endpoint(receiver)
    queue_events(3)
    insert = (
        "INSERT INTO accounts_webhookdelivery (endpoint_id, event_id, event_type, reason, status, created_at, log)"
        " VALUES (%s, 1, 'token.indexed', 'event', 'pending', now(), '[]')"
    )
    with psycopg.connect(service_environment["DATABASE_URL"]) as publisher:
        publisher.execute(insert, [endpoint.pk])
        endpoints.delete_endpoint(endpoint)
        # Its transaction ends without effect, and the next one leaves the endpoint out.
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            publisher.commit()
    assert not WebhookEndpoint.objects.exists() and not WebhookDelivery.objects.exists()


def test_an_outcome_after_the_lease_is_dropped(receiver):
    endpoint = add_endpoint(receiver)
    queue_events()
    (late,) = WebhookDelivery.objects.claim(timezone.now(), lease=LEASE, count=1)
    WebhookDelivery.objects.update(due_at=timezone.now())
    (other,) = WebhookDelivery.objects.claim(timezone.now(), lease=2 * LEASE, count=1)
    delivery_outcomes.store_attempt(late, endpoint, sending.Attempt(status=500, milliseconds=1, error="late"))
    other.refresh_from_db()
    assert (other.attempts, other.log) == (0, [])


def test_kills_give_no_delivery_up(receiver):
    add_endpoint(receiver)
    (delivery,) = queue_events()
    for _ in range(MAX_UNFINISHED + 1):
        WebhookDelivery.objects.update(due_at=timezone.now())
        WebhookDelivery.objects.claim(timezone.now(), lease=LEASE, count=1)
    delivery.refresh_from_db()
    assert delivery.status == "pending" and 0 < delay_of(delivery) <= 60
    assert attempt(delivery).status == "delivered"


def run_dispatcher(dispatcher, done):
    """Dispatch until the condition holds."""

    def step():
        dispatcher.dispatch()
        return done()

    wait_for(step)


def test_a_hanging_endpoint_costs_others_nothing(transactional_db, settings):
    settings.WEBHOOK_TIMEOUT_SECONDS = 30
    with webhook_receiver(hang) as bad, webhook_receiver(hang) as worse, webhook_receiver() as good:
        for each in (bad, worse, good):
            add_endpoint(each)
        queue_events(30)
        with Dispatcher(StopEvent(), threads=4) as dispatcher:
            run_dispatcher(dispatcher, lambda: len(good.received) == 30)
            # Each hanging endpoint has its own thread, and its request hangs until it is closed.
            assert (len(bad.received), len(worse.received)) == (1, 1)
            bad.closed.set()
            worse.closed.set()
        assert sorted(good.ids()) == sorted(set(good.ids()))


def test_hanging_endpoints_of_one_owner_have_an_eighth_of_the_threads(transactional_db, settings):
    settings.WEBHOOK_TIMEOUT_SECONDS = 30
    owner = PartnerKeyFactory(scopes=[Scope.WEBHOOKS])
    with webhook_receiver(hang) as bad, webhook_receiver() as good:
        for _ in range(20):
            add_endpoint(bad, partner_key=owner)
        queue_events()
        with Dispatcher(StopEvent(), threads=16) as dispatcher:
            dispatcher.dispatch()
            wait_for(lambda: len(bad.received) == 2)
            # Deleted ones keep their threads until their attempts end.
            WebhookEndpoint.objects.all().delete()
            for _ in range(20):
                add_endpoint(bad, partner_key=owner)
            add_endpoint(good)
            queue_events()
            run_dispatcher(dispatcher, lambda: len(good.received) == 1)
            assert len(bad.received) == 2
            bad.closed.set()


def add_endpoint_behind(hanging, receiver):
    """Create an endpoint for the receiver; its owner has three hanging endpoints with an older backlog."""
    owner = PartnerKeyFactory(scopes=[Scope.WEBHOOKS])
    for _ in range(3):
        add_endpoint(hanging, partner_key=owner)
    queue_events(20)
    add_endpoint(receiver, partner_key=owner)


def test_hanging_endpoints_of_an_owner_leave_turns_to_its_others(transactional_db, settings):
    settings.WEBHOOK_TIMEOUT_SECONDS = 0.2
    with webhook_receiver(hang) as bad, webhook_receiver() as good:
        add_endpoint_behind(bad, good)
        queue_events(20)
        with Dispatcher(StopEvent(), threads=16) as dispatcher:
            run_dispatcher(dispatcher, lambda: len(good.received) == 20)
            # Most deliveries in the older backlog still wait.
            assert len(bad.received) < 30
            bad.closed.set()


def test_slow_endpoints_take_turns(transactional_db, settings):
    settings.WEBHOOK_TIMEOUT_SECONDS = 0.2
    with webhook_receiver(hang) as bad, webhook_receiver(always(500)) as good:
        add_endpoint_behind(bad, good)
        with Dispatcher(StopEvent(), threads=16) as dispatcher:
            queue_events()
            run_dispatcher(dispatcher, lambda: len(good.received) == 1)
            good.behave = always(200)
            queue_events()
            run_dispatcher(dispatcher, lambda: len(good.received) == 2)
            assert len(bad.received) < 30
            bad.closed.set()


def test_slow_endpoints_leave_threads_to_new_ones(transactional_db, settings):
    settings.WEBHOOK_TIMEOUT_SECONDS = 30
    with webhook_receiver(always(500)) as bad, webhook_receiver() as good:
        for _ in range(8):
            add_endpoint(bad)
        queue_events()
        with Dispatcher(StopEvent(), threads=8) as dispatcher:
            run_dispatcher(dispatcher, lambda: len(bad.received) == 8)
            bad.behave = hang
            queue_events()
            run_dispatcher(dispatcher, lambda: len(bad.received) == 12)
            add_endpoint(good)
            queue_events()
            run_dispatcher(dispatcher, lambda: len(good.received) == 1)
            # Slow attempts' threads are replaced, and each owner has one replacement.
            assert 12 <= len(bad.received) < 16
            bad.closed.set()


# Chains: the hanging endpoints', and the other one's, whose delivery is due later.
BAD, GOOD = 1, 8453


# Seven slow endpoints may hang at once: half of the threads with those that replace theirs.
@pytest.mark.parametrize(("status", "count", "share"), [(200, 8, 6), (500, 6, 4)], ids=["new", "slow"])
def test_endpoints_that_are_not_healthy_and_hang_leave_threads_to_others(
    transactional_db, settings, status, count, share
):
    # Longer than the test waits: no attempt ends.
    settings.WEBHOOK_TIMEOUT_SECONDS = 600
    with webhook_receiver(always(status)) as bad, webhook_receiver(always(status)) as good:
        for _ in range(count):
            add_endpoint(bad, chain_ids=[BAD])
        add_endpoint(good, chain_ids=[GOOD])
        with Dispatcher(StopEvent(), threads=8) as dispatcher:
            for chain_id in (BAD, GOOD):
                queue_events(chain_id=chain_id)
            run_dispatcher(dispatcher, lambda: len(bad.received) + len(good.received) == count + 1)
            bad.behave, good.behave = hang, always(200)
            queue_events(chain_id=BAD)
            run_dispatcher(dispatcher, lambda: len(bad.received) >= count + share)
            queue_events(chain_id=GOOD)
            run_dispatcher(dispatcher, lambda: len(good.received) == 2)
            bad.closed.set()


def test_a_thread_is_replaced_before_its_attempt_counts_as_slow(transactional_db, settings):
    settings.WEBHOOK_TIMEOUT_SECONDS = 60

    def seconds_until_delivered():
        WebhookEndpoint.objects.all().delete()
        with webhook_receiver(hang) as bad, webhook_receiver() as good:
            for _ in range(3):
                add_endpoint(bad, chain_ids=[BAD])
            add_endpoint(good, chain_ids=[GOOD])
            queue_events(chain_id=BAD)
            with Dispatcher(StopEvent(), threads=4) as dispatcher:
                began = time.monotonic()
                # New ones have three threads together.
                run_dispatcher(dispatcher, lambda: len(bad.received) == 3)
                queue_events(chain_id=GOOD)
                run_dispatcher(dispatcher, lambda: len(good.received) == 1)
                bad.closed.set()
                return time.monotonic() - began

    # No attempt is slow earlier. A busy machine may delay some attempts.
    assert any(seconds_until_delivered() < SLOW_SECONDS for _ in range(5))


def prove_health(dispatcher, receiver, endpoints_count=1):
    """Deliver so many events to the receiver's endpoints that they count as healthy."""
    for _ in range(FAST_ATTEMPTS):
        before = len(receiver.received)
        queue_events()
        run_dispatcher(dispatcher, lambda: not WebhookDelivery.objects.filter(status="pending").exists())
        assert len(receiver.received) == before + endpoints_count


def test_an_owner_whose_endpoints_begin_to_hang_has_half_of_the_threads(transactional_db, settings):
    settings.WEBHOOK_TIMEOUT_SECONDS = 30
    owner = PartnerKeyFactory(scopes=[Scope.WEBHOOKS])
    with webhook_receiver() as bad, webhook_receiver() as good:
        for _ in range(20):
            add_endpoint(bad, partner_key=owner)
        with Dispatcher(StopEvent(), threads=16) as dispatcher:
            prove_health(dispatcher, bad, endpoints_count=20)
            bad.behave = hang
            bad.received.clear()
            queue_events(30)
            run_dispatcher(dispatcher, lambda: len(bad.received) == 8)
            assert dispatcher.dispatch() == 0
            add_endpoint(good)
            queue_events(30)
            run_dispatcher(dispatcher, lambda: len(good.received) == 30)
            assert len(bad.received) == 8
            bad.closed.set()


def test_endpoints_of_many_owners_that_begin_to_hang_together_leave_threads_to_others(transactional_db, settings):
    settings.WEBHOOK_TIMEOUT_SECONDS = 60
    with webhook_receiver() as bad, webhook_receiver() as good:
        for owner in PartnerKeyFactory.create_batch(3, scopes=[Scope.WEBHOOKS]):
            for _ in range(4):
                add_endpoint(bad, partner_key=owner)
        add_endpoint(good)
        with Dispatcher(StopEvent(), threads=4) as dispatcher:
            prove_health(dispatcher, bad, endpoints_count=12)
            bad.behave = hang
            bad.received.clear()
            good.received.clear()
            queue_events()
            run_dispatcher(dispatcher, lambda: len(bad.received) >= 3)
            queue_events(30)
            run_dispatcher(dispatcher, lambda: len(good.received) == 31)
            # An owner that has a thread gets no further one.
            assert len(bad.received) <= 4
            bad.closed.set()


def test_each_owner_has_a_thread_before_another_has_two(transactional_db, settings):
    settings.WEBHOOK_TIMEOUT_SECONDS = 60
    with webhook_receiver() as bad, webhook_receiver() as good:
        for owner in PartnerKeyFactory.create_batch(3, scopes=[Scope.WEBHOOKS]):
            for _ in range(2):
                add_endpoint(bad, partner_key=owner, chain_ids=[BAD, GOOD])
        add_endpoint(good, chain_ids=[GOOD])
        with Dispatcher(StopEvent(), threads=4) as dispatcher:
            prove_health(dispatcher, bad, endpoints_count=6)
            bad.behave = hang
            good.received.clear()
            queue_events(chain_id=BAD)
            queue_events(chain_id=GOOD)
            # A thread claims what is due to its endpoint: the two events, or one. A slow machine takes several calls.
            claims = []
            wait_for(lambda: claims.append(dispatcher.dispatch()) or (good.received and sum(claims) >= 3 * 2 + 1))
            assert sum(claims) == 3 * 2 + 1
            bad.closed.set()


def test_an_attempt_under_way_counts_as_slow_after_a_second(transactional_db, settings):
    settings.WEBHOOK_TIMEOUT_SECONDS = 30
    with webhook_receiver() as bad:
        add_endpoint(bad)
        with Dispatcher(StopEvent(), threads=16) as dispatcher:
            prove_health(dispatcher, bad)
            bad.behave = hang
            bad.received.clear()
            queue_events()
            run_dispatcher(dispatcher, lambda: bad.received)
            received_at = time.monotonic()
            queue_events(30)
            wait_for(lambda: time.monotonic() - received_at > SLOW_SECONDS)
            # A healthy one would have four threads.
            assert dispatcher.dispatch() == 0
            bad.closed.set()


def test_several_fast_attempts_make_an_endpoint_healthy(transactional_db, receiver):
    add_endpoint(receiver)
    with Dispatcher(StopEvent(), threads=16) as dispatcher:
        queue_events(40)
        claims = []
        for count in range(1, FAST_ATTEMPTS + 1):
            wait_for(lambda: claims.append(dispatcher.dispatch()) or claims[-1])
            wait_for(partial(is_delivered, count))
        # Healthy: more at once, by several threads.
        wait_for(lambda: claims.append(dispatcher.dispatch()) or claims[-1])
        assert [claim for claim in claims if claim] == [1] * FAST_ATTEMPTS + [CLAIMED]
        run_dispatcher(dispatcher, partial(is_delivered, 40))
        # One failure ends that.
        receiver.behave = always(500)
        queue_events(40)
        wait_for(dispatcher.dispatch)
        wait_for(lambda: WebhookDelivery.objects.filter(attempts=1, status="pending").exists())
        receiver.behave = always(204)
        assert wait_for(dispatcher.dispatch) == 1


def is_delivered(count):
    return WebhookDelivery.objects.filter(status="delivered").count() >= count


def test_a_failing_endpoint_gets_one_at_a_time(transactional_db):
    with webhook_receiver(always(500)) as bad:
        endpoint = add_endpoint(bad)
        queue_events(30)
        with Dispatcher(StopEvent(), threads=8) as dispatcher:
            assert dispatcher.dispatch() == 1
        left = WebhookDelivery.objects.filter(endpoint=endpoint, attempts=0, leased_until=None)
        assert left.count() == 29


def test_an_event_past_its_retention_ends_its_delivery(transactional_db, receiver):
    add_endpoint(receiver)
    (delivery,) = queue_events()
    Event.objects.all().delete()
    with Dispatcher(StopEvent(), threads=2) as dispatcher:
        dispatcher.dispatch()
    delivery.refresh_from_db()
    assert (delivery.status, delivery.last_error, receiver.received) == (
        "failed",
        "the event is past its retention",
        [],
    )


def test_a_stopped_dispatcher_returns_what_it_claimed(transactional_db, receiver):
    add_endpoint(receiver)
    queue_events(3)
    stop = StopEvent()
    stop.set()
    with Dispatcher(stop, threads=2) as dispatcher:
        assert dispatcher.dispatch() == 1
    assert receiver.received == []
    assert WebhookDelivery.objects.due(timezone.now()).count() == 3


def test_a_stop_waits_for_attempts_under_way(transactional_db, service_environment):
    settings = {"WEBHOOK_ALLOWED_NETWORKS": "127.0.0.1", "OVERRIDE_WEBHOOK_TIMEOUT_SECONDS": "20"}
    with webhook_receiver() as slow:
        stopped = StopEvent()

        def accept_late(receiver):
            stopped.wait()
            # Longer than other commands wait.
            slow.closed.wait(GRACE_SECONDS + 0.5)
            return Reply(status=204)

        slow.behave = accept_late
        add_endpoint(slow)
        (delivery,) = queue_events()
        with service("events", service_environment | settings) as running:
            wait_for(lambda: slow.received)
            running.process.terminate()
            stopped.set()
            running.process.wait()
        delivery.refresh_from_db()
        assert (delivery.status, len(delivery.log)) == ("delivered", 1)
