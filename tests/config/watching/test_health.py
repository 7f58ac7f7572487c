"""GET /healthz and GET /readyz, also while PostgreSQL or Redis refuse connections or hang."""

import logging
import socket
import time

import pytest
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from redis import RedisError

from config.redis.connection import redis_client

READY = {"status": "ok", "database": "ok", "cache": "ok", "migrations": "ok"}

# Longest response time of /readyz on a busy machine; without its timeouts it would block for minutes, or for ever.
LONGEST_SECONDS = 30.0


@pytest.fixture
def closed_port():
    """Bind a loopback port, so that no other process takes it, which refuses connections."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture
def silent_port():
    """Listen on a loopback port that accepts connections and never responds."""
    with listen_silently() as listening:
        yield listening.getsockname()[1]


def listen_silently():
    """Return a socket on a loopback port that never accepts its connections."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(16)
    return listening


def cache_at(port):
    return f"redis://127.0.0.1:{port}/0"


@pytest.mark.parametrize("name", ["closed_port", "silent_port"])
def test_it_is_not_ready_within_seconds_while_both_servers_refuse_or_hang(name, request, database_at, settings, caplog):
    port = request.getfixturevalue(name)
    database_at(port)
    settings.REDIS_URL = cache_at(port)
    started = time.monotonic()
    ready = Client().get("/readyz")
    assert time.monotonic() - started < LONGEST_SECONDS
    failed = dict.fromkeys(("status", "database", "cache", "migrations"), "failed")
    assert (ready.status_code, ready.json()) == (503, failed)
    assert Client().get("/healthz").json() == {"status": "ok"}
    assert "the database failed" in caplog.text and "the cache failed" in caplog.text
    assert "hidden-password" not in caplog.text


@pytest.mark.django_db
@pytest.mark.parametrize("port", ["closed_port", "silent_port"])
def test_it_is_not_ready_without_its_cache(port, request, settings, caplog):
    settings.REDIS_URL = cache_at(request.getfixturevalue(port))
    started = time.monotonic()
    response = Client().get("/readyz")
    assert (response.status_code, response.json()) == (503, {**READY, "status": "failed", "cache": "failed"})
    assert time.monotonic() - started < LONGEST_SECONDS
    assert "the cache failed" in caplog.text


@pytest.mark.django_db
def test_it_tries_a_silent_cache_once(settings):
    with listen_silently() as listening:
        settings.REDIS_URL = cache_at(listening.getsockname()[1])
        assert Client().get("/readyz").status_code == 503
        listening.setblocking(False)
        listening.accept()[0].close()
        with pytest.raises(BlockingIOError):
            listening.accept()


@pytest.mark.django_db(transaction=True)
def test_it_is_not_ready_while_a_migration_is_missing(caplog):
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied("sessions", "0001_initial")
    try:
        response = Client().get("/readyz")
    finally:
        recorder.record_applied("sessions", "0001_initial")
    assert (response.status_code, response.json()) == (503, {**READY, "status": "failed", "migrations": "failed"})
    assert "sessions.0001_initial" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_it_is_not_ready_in_an_empty_database():
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE django_migrations RENAME TO set_aside")
        try:
            response = Client().get("/readyz")
        finally:
            cursor.execute("ALTER TABLE set_aside RENAME TO django_migrations")
    assert (response.status_code, response.json()) == (503, {**READY, "status": "failed", "migrations": "failed"})


@pytest.mark.django_db(transaction=True)
def test_it_does_not_wait_for_a_locked_table():
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE django_migrations IN ACCESS EXCLUSIVE MODE")
        started = time.monotonic()
        response = Client().get("/readyz")
    assert (response.status_code, response.json()["database"]) == (503, "failed")
    assert time.monotonic() - started < LONGEST_SECONDS


@pytest.mark.django_db
def test_it_is_ready_when_everything_answers(caplog):
    with caplog.at_level(logging.WARNING):
        response = Client().get("/readyz")
    assert (response.status_code, response.json()) == (200, READY)
    assert response["Cache-Control"] == "no-store"
    assert caplog.text == ""


@pytest.mark.django_db
def test_it_leaves_no_connection_behind():
    def count():
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
            return cursor.fetchone()[0]

    before = count()
    for _ in range(3):
        Client().get("/readyz")
    assert count() == before


def test_it_is_up_without_a_query():
    response = Client().get("/healthz")
    assert (response.status_code, response.json(), response["Cache-Control"]) == (200, {"status": "ok"}, "no-store")


def test_it_is_up_without_the_cache(settings, closed_port):
    settings.REDIS_URL = cache_at(closed_port)
    with pytest.raises(RedisError, match="refused"):
        redis_client().get("anything")
    assert Client().get("/healthz").status_code == 200


@pytest.mark.parametrize("host", ["10.0.0.7:8000", "[::1]", "evil.example", "not a host"])
def test_probes_are_answered_whatever_the_host_and_without_redirect_to_https(settings, host):
    settings.SECURE_SSL_REDIRECT = True
    settings.MIDDLEWARE = ["config.watching.health.probe_middleware", *settings.MIDDLEWARE]
    assert Client().get("/healthz", headers={"host": host}).status_code == 200
    assert Client().get("/healthz/", headers={"host": host}).status_code == 200


def test_other_addresses_keep_the_checks_of_the_middleware(settings):
    settings.SECURE_SSL_REDIRECT = True
    settings.MIDDLEWARE = ["config.watching.health.probe_middleware", *settings.MIDDLEWARE]
    assert Client().get("/api/nothing").status_code == 301
    assert Client().get("/healthz-not", headers={"host": "evil.example"}, secure=True).status_code == 400
