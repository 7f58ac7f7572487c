"""Fixtures of the stream's tests: published events in this test's database, and the stream's process on it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from django.db import connection

from config.events import outbox
from config.events.models import Event, OutboxEvent
from tests.processes.stream_clients import StreamProcess, stream_process

WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"


@pytest.fixture(autouse=True)
def committed_events(transactional_db: None) -> None:
    """Let the stream's process see the events of a test."""


@pytest.fixture
def publish() -> Callable[..., list[int]]:
    """Return a function that publishes events with these subjects, and returns their ids."""

    def publish(*subjects: str, data: dict[str, Any] | None = None, **fields: Any) -> list[int]:
        before = outbox.newest_event_id()
        given = {"type": "token.indexed", "version": 1, "chain_id": 8453, "data": data or {}} | fields
        OutboxEvent.objects.bulk_create(OutboxEvent(subject=subject, **given) for subject in subjects)
        while outbox.publish_events():
            pass
        return list(Event.objects.filter(pk__gt=before).order_by("pk").values_list("pk", flat=True))

    return publish


@pytest.fixture
def start(service_environment: dict[str, str]) -> Iterator[Callable[..., StreamProcess]]:
    """Return a function that starts the stream with these settings."""
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(stream_process(service_environment, **settings))


@pytest.fixture
def end_connections() -> Callable[[], None]:
    """Return a function that ends all connections to this database but this process's own, as a restart does."""

    def end() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    return end
