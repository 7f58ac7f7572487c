"""What goes wrong while a chain is followed: shown in its row, said once."""

import pytest

from tests.rows.factories import ChainHeadFactory
from tokens.chains.types import NodeUnavailable
from tokens.following.leader_loops import Troubles
from tokens.models import ChainHead

# What is shown is written by a connection that was looked after first, which ends a test's transaction.
pytestmark = pytest.mark.django_db(transaction=True)

CHAIN = 8453


@pytest.fixture
def troubles():
    """Those of a chain, none of which is over soon."""
    ChainHeadFactory(chain_id=CHAIN, trouble="of a process before")
    return Troubles(CHAIN, grace=0.0)


def note(troubles, error, part="head"):
    return troubles.note(part, error, longest_pause=1.0)


def shown():
    return ChainHead.objects.get(pk=CHAIN).trouble


def test_pauses_grow_up_to_the_longest_and_begin_anew_when_it_goes_well(troubles):
    pauses = [note(troubles, NodeUnavailable("away")) for _ in range(8)]
    assert pauses == sorted(pauses) and pauses[0] < pauses[3] < pauses[-1] == 1.0
    troubles.clear("head")
    assert note(troubles, NodeUnavailable("away")) == pauses[0]


def test_a_reason_is_shown_until_it_goes_well(troubles):
    note(troubles, NodeUnavailable("no node answers"))
    assert shown() == "head: no node answers"
    note(troubles, NodeUnavailable("too many results"), part="history")
    assert shown() == "head: no node answers; history: too many results"
    troubles.clear("head")
    assert shown() == "history: too many results"
    troubles.clear("history")
    assert shown() == ""


def test_what_a_process_before_has_left_is_gone_when_it_goes_well(troubles):
    troubles.clear("head")
    assert shown() == ""


def test_a_reason_is_said_once_whatever_its_numbers(troubles, caplog):
    for behind in range(5):
        note(troubles, NodeUnavailable(f"{behind} blocks behind"))
    note(troubles, NodeUnavailable("gone"))
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]


def test_what_is_over_soon_is_not_worth_a_word(caplog):
    ChainHeadFactory(chain_id=CHAIN)
    troubles = Troubles(CHAIN, grace=3_600.0)
    note(troubles, NodeUnavailable("a block behind"))
    assert (shown(), caplog.records) == ("", [])


def test_of_what_nobody_expected_the_kind_is_shown_and_the_log_tells_all(troubles, caplog):
    note(troubles, ValueError("https://node.example/key"))
    assert shown() == "head: ValueError"
    (record,) = caplog.records
    assert record.levelname == "ERROR" and record.exc_info
