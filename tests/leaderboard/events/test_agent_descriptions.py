"""Agent descriptions by events: in any order, and with fields that belong to other agents."""

import itertools

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.events import payloads, recording
from leaderboard.events.errors import ForeignAgentError, InvalidEventsError
from leaderboard.events.field_rules import latest_accepted_time
from leaderboard.events.recording import RecordedCounts, Reporter
from leaderboard.models import Agent, Run
from tests.rows import agent_events as reported
from tests.rows.agent_events import MINT, WALLET
from tests.rows.agent_factories import AgentFactory, RunFactory
from tests.rows.factories import PartnerKeyFactory
from tokens.chains.addresses import checksum_address

pytestmark = pytest.mark.django_db

TOKEN, OTHER_TOKEN = (
    {"chainId": 8453, "address": WALLET},
    {"chainId": 8453, "address": checksum_address("0x" + "34" * 20)},
)
TAKEN = "is already used by another agent"


def at(second):
    return f"2026-02-07T12:{second // 60:02}:{second % 60:02}Z"


def report(*values, key=None):
    """Record events as reported with a partner key, or from an operator's file."""
    latest = latest_accepted_time(timezone.now())
    reporter = Reporter(source="file") if key is None else Reporter.for_key(key)
    return recording.record_events([payloads.parse_event(value, latest=latest) for value in values], reporter=reporter)


def refuse(*values, key=None):
    """Return (index, key, rule) for all errors in refused events."""
    with pytest.raises(InvalidEventsError) as refused:
        report(*values, key=key)
    return [(problem.index, problem.path, problem.rule) for problem in refused.value.problems]


def described(agent_id="one"):
    agent = Agent.objects.get(agent_id=agent_id)
    return {
        "name": agent.name or None,
        "fid": agent.fid,
        "token": {"chainId": agent.token_chain_id, "address": agent.token_address} if agent.token_address else None,
        "creatorFid": agent.creator_fid,
        "wallets": set(agent.wallets.values_list("address", flat=True)),
    }


PARTS = {
    "name": st.sampled_from([None, "One", "Uno"]),
    "fid": st.sampled_from([None, 7, 8]),
    "token": st.sampled_from([None, TOKEN, {"chainId": 1, "address": MINT}]),
    "creatorFid": st.sampled_from([None, 5]),
    "wallets": st.sampled_from([None, [], [WALLET], [MINT, WALLET]]),
}


@given(
    parts=st.lists(st.fixed_dictionaries({}, optional=PARTS), min_size=1, max_size=6),
    data=st.data(),
)
@settings(max_examples=30)
def test_of_each_part_the_newest_value_counts_in_any_sequence_and_batches(parts, data):
    Agent.objects.all().delete()
    every = [reported.agent(str(second), at=at(second), **part) for second, part in enumerate(parts)]
    order = data.draw(st.permutations(every))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(every)))) | {0, len(every)})
    for first, last in itertools.pairwise(cuts):
        report(*order[first:last])
    newest = dict.fromkeys(PARTS)
    for part in parts:
        newest |= part
    newest["wallets"] = set(newest["wallets"] or ())
    assert described() == newest
    assert report(*every) == RecordedCounts(added=0, known=len(every))


def test_a_description_that_comes_late_sets_what_no_newer_one_does():
    first = report(
        reported.agent("3", at=at(3), name="Third"),
        reported.agent("2", at=at(2), name="Second", creatorFid=5),
    )
    assert first == RecordedCounts(added=2, known=0)
    late = reported.agent("1", at=at(1), name="First", creatorFid=4, fid=4, wallets=[WALLET])
    assert report(late) == RecordedCounts(added=1, known=0)
    assert described() == {"name": "Third", "fid": 4, "token": None, "creatorFid": 5, "wallets": {WALLET}}
    assert report(late, reported.agent("0", at=at(0), fid=3, wallets=None)) == RecordedCounts(added=0, known=2)


def test_of_simultaneous_reports_the_later_request_counts():
    assert report(reported.agent(name="One")).added == 1
    assert report(reported.agent("b", name="Uno"), reported.agent("b", name="Uno")) == RecordedCounts(added=1, known=1)
    assert described()["name"] == "Uno"


@pytest.mark.parametrize(("key", "mine"), [("fid", 7), ("token", TOKEN)])
def test_what_is_one_agents_is_refused_to_others_until_it_lets_go_of_it(key, mine):
    first, second = (PartnerKeyFactory(scopes=["agents"]) for _ in range(2))
    report(reported.agent(**{key: mine}), key=first)
    claim = reported.agent("b", agentId="two", at=at(1), name="Two", **{key: mine})
    # The response does not name its owner.
    assert refuse(reported.run(agentId="two"), claim, key=second) == [(1, key, TAKEN)]
    assert not Agent.objects.filter(agent_id="two").exists()
    # Nor may the same partner's other agent have it.
    assert refuse(reported.agent("c", agentId="three", **{key: mine}), key=first) == [(0, key, TAKEN)]
    report(reported.agent("d", at=at(2), **{key: None}), key=first)
    assert report(claim, key=second).added == 1
    # A late event claims nothing.
    assert report(reported.agent("e", at=at(1), **{key: mine}), key=first) == RecordedCounts(added=0, known=1)
    assert refuse(reported.agent("f", at=at(3), **{key: mine}), key=first) == [(0, key, TAKEN)]
    assert (described()[key], described("two")[key]) == (None, mine)


def test_all_that_is_anothers_is_reported():
    report(reported.agent(fid=7), reported.agent("b", agentId="two", token=TOKEN))
    claim = reported.agent("c", agentId="three", fid=7, token=TOKEN)
    assert refuse(reported.agent("d", agentId="four"), claim) == [(1, "fid", TAKEN), (1, "token", TAKEN)]
    with pytest.raises(ForeignAgentError):
        report(claim, reported.agent(), key=PartnerKeyFactory(scopes=["agents"]))


def test_a_token_is_the_same_in_any_spelling_and_another_one_on_another_chain():
    report(reported.agent(token=TOKEN))
    same = reported.agent("b", agentId="two", token=TOKEN | {"address": WALLET.lower()})
    assert refuse(same) == [(0, "token", TAKEN)]
    assert report(reported.agent("c", agentId="two", token=TOKEN | {"chainId": 1})).added == 1


@pytest.mark.parametrize(("key", "first", "second"), [("fid", 7, 8), ("token", TOKEN, OTHER_TOKEN)])
def test_fids_and_tokens_may_change_hands_within_a_batch(key, first, second):
    report(reported.agent(**{key: first}), reported.agent("b", agentId="two", **{key: second}))
    freed = reported.agent("c", at=at(1), **{key: None})
    moved = reported.agent("d", agentId="two", at=at(2), **{key: first})
    taken = reported.agent("e", at=at(3), **{key: second})
    assert report(taken, moved, freed).added == 3
    assert (described()[key], described("two")[key]) == (second, first)


def test_the_database_leaves_a_token_and_a_run_to_one():
    agent = AgentFactory(launched=True)
    run = RunFactory(agent=agent, run_key=1)
    for broken in (
        lambda: AgentFactory(token_chain_id=agent.token_chain_id, token_address=agent.token_address),
        lambda: RunFactory(agent=agent, run_key=1, started_at=run.started_at, finished_at=run.finished_at),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            broken()
    # Rows from before these keys were stored have none, and may repeat.
    RunFactory.create_batch(2, agent=agent, started_at=run.started_at, finished_at=run.finished_at)
    assert Run.objects.count() == 3
