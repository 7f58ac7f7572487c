"""Whether a connection to PostgreSQL is still there."""

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def end_of_the_server(pid):
    """Has the server end a connection, seen from another one."""
    other = connections["default"].copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE pid = %s", [pid])
            wait_for(
                lambda: cursor.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", [pid]) or not cursor.fetchone()
            )
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
    # As between two requests: what looks after connections does so at the beginning of each.
    connection.close_if_unusable_or_obsolete()
    assert client.get("/api/tokens").status_code == 200
    assert own_pid() != pid


def test_it_costs_no_query():
    own_pid()
    with CaptureQueriesContext(connection) as queries:
        assert connection.is_usable()
    assert not queries.captured_queries
