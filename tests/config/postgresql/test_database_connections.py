"""Health check for connections to PostgreSQL."""

import os
import resource

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from tests.rows.factories import TokenFactory

pytestmark = pytest.mark.django_db(transaction=True)


def end_of_the_server(pid):
    """Terminate a connection from another one, and wait until its process has ended."""
    other = connections["default"].copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 120000)", [pid])
            assert cursor.fetchone() == (True,)
    finally:
        other.close()


def own_pid():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]


def test_no_connection_is_not_usable():
    connection.close()
    assert not connection.is_usable()


def test_a_connection_that_the_server_ended_is_not_usable():
    pid = own_pid()
    assert connection.is_usable()
    end_of_the_server(pid)
    assert not connection.is_usable()
    connection.close()


def test_a_notice_that_waits_is_no_end():
    with connection.cursor() as cursor:
        cursor.execute("LISTEN something")
        other = connections["default"].copy()
        with other.cursor() as notifier:
            notifier.execute("NOTIFY something")
        other.close()
    assert connection.is_usable()


def test_a_request_after_the_servers_end_gets_its_answer(client):
    assert client.get("/api/tokens").status_code == 200
    pid = own_pid()
    end_of_the_server(pid)
    # As at the beginning of each request, when Django checks its connections.
    connection.close_if_unusable_or_obsolete()
    assert client.get("/api/tokens").status_code == 200
    assert own_pid() != pid


def test_a_connection_of_any_number_is_usable():
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, limits[1]), limits[1]))
    connection.close()
    others = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        own_pid()
        assert connection.connection.fileno() > 1023
        assert connection.is_usable()
    finally:
        connection.close()
        for other in others:
            os.close(other)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.parametrize(
    "lost", ["DEALLOCATE ALL", "ALTER TABLE tokens_token ALTER COLUMN img_url TYPE varchar(100000)"]
)
def test_a_plan_that_is_gone_or_out_of_date_costs_no_answer(client, lost):
    TokenFactory()
    for _ in range(6):
        assert len(client.get("/api/tokens").json()["data"]) == 1
    with connection.cursor() as cursor:
        cursor.execute(lost)
    try:
        assert len(client.get("/api/tokens").json()["data"]) == 1
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE tokens_token ALTER COLUMN img_url TYPE text")


def test_it_costs_no_query():
    own_pid()
    with CaptureQueriesContext(connection) as queries:
        assert connection.is_usable()
    assert not queries.captured_queries
