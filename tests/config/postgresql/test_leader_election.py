"""Leader election by an advisory lock of a database session."""

import os
import signal
import subprocess
from contextlib import contextmanager

import pytest
from django.db import connection

from config.postgresql.advisory_locks import LockHeldError, SessionLock, session_lock
from tests.processes.forking.program import Program
from tests.processes.waiting import wait_for
from tokens.indexing import chain_lock

pytestmark = pytest.mark.django_db(transaction=True)

KEY = chain_lock.chain_lock_key(chain_lock.ChainLockPurpose.FOLLOWING, 31337)

_HOLD = """
import django, sys
django.setup()
from config.postgresql.advisory_locks import session_lock
with session_lock(int(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(environment):
    """Run another process that holds the lock."""
    words = ["python", "-c", _HOLD, str(KEY)]
    process = Program(words, environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def leaderships():
    made = []

    def make(key=KEY):
        made.append(SessionLock(key))
        return made[-1]

    yield make
    for leadership in made:
        leadership.close()


def end_sessions_that_lock():
    with connection.cursor() as cursor:
        # Only in this database: other test processes use theirs on the same server.
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
            " WHERE locktype = 'advisory' AND datname = current_database()"
        )


def test_it_is_not_had_by_two(leaderships):
    first, second = leaderships(), leaderships()
    assert first.claim()
    assert not second.claim()
    assert (first.is_held(), second.is_held()) == (True, False)


def test_it_does_not_fail_while_the_database_is_out_of_reach(leaderships, settings, unused_port):
    leadership = leaderships()
    there = connection.settings_dict["HOST"], connection.settings_dict["PORT"]
    connection.settings_dict["HOST"], connection.settings_dict["PORT"] = "127.0.0.1", unused_port
    try:
        assert not leadership.claim()
    finally:
        connection.settings_dict["HOST"], connection.settings_dict["PORT"] = there
    assert leadership.claim()


def test_its_holder_notices_that_the_session_was_ended_and_claims_it_again(leaderships):
    leadership = leaderships()
    assert leadership.claim()
    end_sessions_that_lock()
    assert not leadership.is_held()
    assert leadership.claim()
    end_sessions_that_lock()
    assert leadership.claim() and leadership.is_held()


def test_claiming_what_one_holds_changes_nothing(leaderships):
    leadership, other = leaderships(), leaderships()
    assert leadership.claim() and leadership.claim()
    leadership.close()
    assert other.claim()


def test_chains_are_led_by_themselves(leaderships):
    assert leaderships().claim()
    assert leaderships(chain_lock.chain_lock_key(chain_lock.ChainLockPurpose.FOLLOWING, 8453)).claim()
    assert leaderships(chain_lock.chain_lock_key(chain_lock.ChainLockPurpose.WRITING, 31337)).claim()


def test_it_is_free_after_the_block(leaderships):
    with session_lock(KEY) as leadership:
        assert leadership.is_held()
        assert not leaderships().claim()
    assert leaderships().claim()


def test_another_process_has_it_until_it_is_killed(leaderships, service_environment):
    leadership = leaderships()
    with holder(service_environment) as process:
        assert not leadership.claim()
        with pytest.raises(LockHeldError), session_lock(KEY):
            pass
        os.kill(process.pid, signal.SIGKILL)
        wait_for(leadership.claim)


def test_the_connection_is_not_shared(leaderships):
    leadership = leaderships()
    assert leadership.claim()
    connection.close()
    assert leadership.is_held()
