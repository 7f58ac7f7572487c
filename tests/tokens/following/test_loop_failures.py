"""Failures in a follower's loops: shown in the chain's row, logged once."""

import pytest

from tests.rows.factories import ChainHeadFactory
from tokens.chains.errors import NodeUnavailableError
from tokens.following.leader_loops import LoopFailures
from tokens.models import ChainHead

# The row is written by a connection that is checked first, which ends a test's transaction.
pytestmark = pytest.mark.django_db(transaction=True)

CHAIN = 8453


@pytest.fixture
def failures():
    """Return a chain's failures, which are shown at once; the chain's row has an earlier process's error."""
    ChainHeadFactory(chain_id=CHAIN, error="of a process before")
    return LoopFailures(CHAIN, grace=0.0)


def record(failures, error, part="head"):
    return failures.record(part, error, max_delay=1.0)


def shown():
    return ChainHead.objects.get(pk=CHAIN).error


def test_pauses_grow_up_to_the_longest_and_begin_anew_when_it_goes_well(failures):
    delays = [record(failures, NodeUnavailableError("away")) for _ in range(8)]
    assert delays == sorted(delays) and delays[0] < delays[3] < delays[-1] == 1.0
    failures.clear("head")
    assert record(failures, NodeUnavailableError("away")) == delays[0]


def test_a_reason_is_shown_until_it_goes_well(failures):
    record(failures, NodeUnavailableError("no node answers"))
    assert shown() == "head: no node answers"
    record(failures, NodeUnavailableError("too many results"), part="history")
    assert shown() == "head: no node answers; history: too many results"
    failures.clear("head")
    assert shown() == "history: too many results"
    failures.clear("history")
    assert shown() == ""


def test_what_a_process_before_has_left_is_gone_when_it_goes_well(failures):
    failures.clear("head")
    assert shown() == ""


def test_a_reason_is_logged_once_for_any_numbers(failures, caplog):
    for behind in range(5):
        record(failures, NodeUnavailableError(f"{behind} blocks behind"))
    record(failures, NodeUnavailableError("gone"))
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]


def test_what_is_over_soon_is_not_logged(caplog):
    ChainHeadFactory(chain_id=CHAIN)
    failures = LoopFailures(CHAIN, grace=3_600.0)
    record(failures, NodeUnavailableError("a block behind"))
    assert (shown(), caplog.records) == ("", [])


def test_of_unexpected_errors_the_type_is_shown_and_the_log_has_all(failures, caplog):
    record(failures, ValueError("https://node.example/key"))
    assert shown() == "head: ValueError"
    (entry,) = caplog.records
    assert entry.levelname == "ERROR" and entry.exc_info
