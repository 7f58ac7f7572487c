"""Tests of config/events/outbox.py: numbers rise with publication, and no reader skips an event."""

import threading
from datetime import timedelta
from importlib import import_module

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from config.events import outbox
from config.events.models import Event, EventAudience, OutboxEvent
from config.postgresql.advisory_locks import advisory_lock_key, try_transaction_lock
from config.postgresql.partitions import ensure_partitions, maintain_partitions, week_of

# EventAudience -> the owner that the former version writes and reads.
OWNERS = {EventAudience.PUBLIC: None, EventAudience.PARTNER: 7, EventAudience.OPERATORS: 0, EventAudience.STREAM: -1}
INSERT = "INSERT INTO events_outboxevent (type, version, subject, data) VALUES ('token.indexed', 1, %s, '{}')"

OUTBOX_OF_FORMER = (
    "INSERT INTO events_outboxevent (type, version, subject, data, owner_id) VALUES (%s, 1, '', '{}', %s)"
)
EVENT_OF_FORMER = (
    "INSERT INTO events_event (type, version, subject, data, owner_id, id, created_at, published_at)"
    " VALUES (%s, 1, '', '{}', %s, %s, now(), now())"
)
LONG_AGO = timezone.now() - timedelta(hours=1)

# Seconds between the reservation of an id and the commit.
DELAYS = (0, 0.001, 0, 0.03, 0.002, 0, 0.01)


def store(subject):
    return OutboxEvent.objects.create(type="token.indexed", version=1, subject=subject, data={})


def store_of_stream(chain_id, *, seconds_ago):
    at = timezone.now() - timedelta(seconds=seconds_ago)
    fields = {"type": "markets.changed", "version": 1, "audience": EventAudience.STREAM, "data": {}}
    return OutboxEvent.objects.create(chain_id=chain_id, subject=str(seconds_ago), created_at=at, **fields)


def store_as_former_version():
    """Store events of all audiences, each named by its type, without that column."""
    now = timezone.now()
    with transaction.atomic(), connection.cursor() as cursor:
        ensure_partitions([outbox.EVENTS], [now], now=now)
        for number, (audience, owner) in enumerate(OWNERS.items()):
            cursor.execute(OUTBOX_OF_FORMER, [audience, owner])
            cursor.execute(EVENT_OF_FORMER, [audience, owner, number])


def assert_audiences():
    for model in (OutboxEvent, Event):
        assert dict(model.objects.values_list("type", "audience")) == {audience: audience for audience in OWNERS}


def subjects():
    return list(Event.objects.order_by("id").values_list("subject", flat=True))


@pytest.mark.django_db
def test_events_are_published_in_the_sequence_of_their_storage():
    for subject in ("a", "b", "c"):
        store(subject)
    assert len(outbox.publish_events()) == 3
    assert subjects() == ["a", "b", "c"]
    assert not OutboxEvent.objects.exists()
    assert outbox.oldest_event_id() == Event.objects.get(subject="a").pk
    assert outbox.newest_event_id() == Event.objects.get(subject="c").pk
    assert not outbox.publish_events()


@pytest.mark.django_db
def test_an_event_keeps_its_fields():
    stored = OutboxEvent.objects.create(
        type="token.updated",
        version=2,
        chain_id=1,
        subject="a",
        audience="partner",
        owner_id=7,
        data={"a": [1, None, "é"]},
    )
    stored.refresh_from_db()
    outbox.publish_events()
    event = Event.objects.get()
    names = ("type", "version", "chain_id", "subject", "audience", "owner_id", "data", "created_at")
    assert [getattr(event, name) for name in names] == [getattr(stored, name) for name in names]


@pytest.mark.django_db
def test_events_of_the_stream_only_are_published_as_one_of_each_chain_in_their_interval():
    for chain_id, seconds_ago in ((1, 4), (2, 3), (1, 2)):
        store_of_stream(chain_id, seconds_ago=seconds_ago)
    store("token")
    assert outbox.measure_outbox(timezone.now()).depth == 1
    assert len(outbox.publish_events()) == 1
    assert not outbox.publish_events()
    store_of_stream(2, seconds_ago=6)
    assert outbox.measure_outbox(timezone.now()).depth == 1
    assert len(outbox.publish_events()) == 2
    assert subjects() == ["token", "2", "6"]
    assert not OutboxEvent.objects.exists()


@pytest.mark.django_db
def test_a_large_backlog_is_published_in_batches():
    OutboxEvent.objects.bulk_create(
        OutboxEvent(type="token.indexed", version=1, subject=str(number), data={}) for number in range(2_003)
    )
    assert [len(outbox.publish_events()) for _ in range(4)] == [1_000, 1_000, 3, 0]
    assert subjects() == [str(number) for number in range(2_003)]


def test_one_process_publishes_at_a_time(transactional_db, service_environment):
    store("a")
    with psycopg.connect(service_environment["DATABASE_URL"]) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", [advisory_lock_key("publication of events")])
        assert not outbox.publish_events()
    assert len(outbox.publish_events()) == 1


def test_a_lock_is_held_until_the_end_of_its_transaction(transactional_db):
    with pytest.raises(RuntimeError):
        try_transaction_lock(1)
    with transaction.atomic():
        assert try_transaction_lock(1) is True


def test_readers_skip_no_event_of_writers_that_commit_late(transactional_db, service_environment):
    """Writers commit in another sequence than they reserve ids, while publishers compete and a reader goes on."""
    url, per_writer, writers = service_environment["DATABASE_URL"], 60, 8
    failures: list[BaseException] = []
    done = threading.Event()

    def write(number):
        with psycopg.connect(url) as own:
            for place in range(per_writer):
                own.execute(INSERT, [f"{number}-{place}"])
                # Late on purpose: others that began later commit before.
                own.execute("SELECT pg_sleep(%s)", [DELAYS[(3 * number + place) % len(DELAYS)]])
                if (number + place) % 5 == 0:
                    own.execute(INSERT, ["rolled back"])
                    own.rollback()
                    own.execute(INSERT, [f"{number}-{place}"])
                own.commit()

    def publish():
        try:
            while not done.is_set():
                outbox.publish_events()
        finally:
            connection.close()

    def guarded(work, *arguments):
        try:
            work(*arguments)
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=guarded, args=(write, number)) for number in range(writers)]
    publishers = [threading.Thread(target=guarded, args=(publish,)) for _ in range(2)]
    for thread in [*threads, *publishers]:
        thread.start()
    seen, last = [], 0
    while len(seen) < writers * per_writer and not failures:
        for event in Event.objects.filter(pk__gt=last).order_by("pk")[:7]:
            last = event.pk
            seen.append(event.subject)
    for thread in threads:
        thread.join()
    done.set()
    for thread in publishers:
        thread.join()
    assert failures == []
    assert sorted(seen) == sorted(f"{number}-{place}" for number in range(writers) for place in range(per_writer))
    for number in range(writers):
        own = [subject for subject in seen if subject.startswith(f"{number}-")]
        assert own == [f"{number}-{place}" for place in range(per_writer)]


@pytest.mark.django_db
def test_the_lag_is_that_of_the_oldest_event():
    assert outbox.measure_outbox(timezone.now()).depth == 0
    stored = store("a")
    stored.refresh_from_db()
    size = outbox.measure_outbox(timezone.now())
    assert (size.depth, size.since) == (1, stored.created_at)


def test_old_events_are_dropped_by_week(transactional_db, settings):
    settings.EVENT_DAYS = 14
    now, old = timezone.now(), timezone.now() - timedelta(days=30)
    with transaction.atomic():
        ensure_partitions([outbox.EVENTS], [old], now=old)
    fields = {"type": "token.indexed", "version": 1, "data": {}, "created_at": old, "published_at": old}
    Event.objects.create(id=1, subject="old", **fields)
    store("new")
    outbox.publish_events()
    dropped = maintain_partitions(now)[1]
    assert f"events_event_{week_of(old):%Y%m%d}" in dropped
    assert subjects() == ["new"]


@pytest.mark.django_db
def test_events_that_the_former_version_stores_get_their_audience():
    store_as_former_version()
    assert_audiences()


@pytest.mark.django_db
@pytest.mark.parametrize(("audience", "owner"), OWNERS.items())
def test_the_former_version_reads_an_audience_as_owner(audience, owner):
    given = owner if audience == EventAudience.PARTNER else None
    fields = {"type": "token.indexed", "version": 1, "subject": "a", "data": {}, "created_at": LONG_AGO}
    OutboxEvent.objects.create(audience=audience, owner_id=given, **fields)
    outbox.publish_events()
    event = Event.objects.get()
    assert (event.audience, event.owner_id) == (audience, owner)


@pytest.mark.django_db
@pytest.mark.parametrize("fields", [{"audience": "operators", "owner_id": 7}, {"audience": "partner"}])
def test_an_audience_that_differs_from_its_owner_is_refused(fields):
    with pytest.raises(IntegrityError, match="outbox_event_audience_known"):
        OutboxEvent.objects.create(type="token.indexed", version=1, subject="a", data={}, **fields)


@pytest.mark.django_db
def test_stored_events_get_their_audience_by_the_upgrade():
    store_as_former_version()
    upgrade = import_module("config.events.migrations.0003_audience_of_stored_events")
    with connection.cursor() as cursor:
        # As the new column is, before 0003 fills it.
        cursor.execute("ALTER TABLE events_outboxevent DROP CONSTRAINT outbox_event_audience_known")
        for model, fill in ((Event, upgrade.FILL), (OutboxEvent, upgrade.FILL_OUTBOX)):
            model.objects.update(audience="public")
            cursor.execute(fill)
    assert_audiences()
