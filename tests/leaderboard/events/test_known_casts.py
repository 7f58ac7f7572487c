"""Interactions that a ranking counts: with known casts, and each message once."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from leaderboard.events.field_rules import latest_accepted_time
from leaderboard.events.payloads import parse_event
from leaderboard.events.recording import Reporter, record_events
from leaderboard.facts.loading import load_facts
from leaderboard.models import Action, Interaction, InteractionKind, Interval, Standing
from leaderboard.ranking.snapshot_building import build_snapshot
from tests.rows import agent_events as reported
from tests.rows.agent_factories import ActionFactory, AgentFactory, InteractionFactory
from tests.rows.factories import PartnerKeyFactory

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 2, 7, 3, 50, 49, tzinfo=UTC)
AT, DAY = NOW - timedelta(hours=1), timedelta(days=1)
# After the time of the events.
LATER = datetime(2026, 2, 7, 12, 10, tzinfo=UTC)
REPLY, QUOTE = InteractionKind.REPLY, InteractionKind.QUOTE


def counted(interval=Interval.DAY):
    """Return agent and actor of each interaction that counts."""
    with connection.cursor() as cursor:
        facts = load_facts(cursor, computed_at=NOW, interval=interval)
    found = facts.interactions
    assert facts.accounts.fids.tolist() == sorted(set(found.actor.tolist()))
    return sorted(zip(facts.agents.ids[found.agent].tolist(), found.actor.tolist(), strict=True))


def test_an_interaction_with_a_cast_that_was_not_reported_does_not_count():
    agent = AgentFactory()
    cast = ActionFactory(agent=agent, at=AT, cast_key=7)
    InteractionFactory(agent=agent, at=AT, actor_fid=1, cast_key=cast.cast_key)
    InteractionFactory(agent=agent, at=AT, actor_fid=2, cast_key=8)
    assert counted() == [(agent.pk, 1)]


def test_another_agents_cast_does_not_count_for_it():
    cast = ActionFactory(at=AT)
    InteractionFactory(agent=cast.agent, at=AT, actor_fid=1, cast_key=cast.cast_key)
    InteractionFactory(agent=AgentFactory(), at=AT, actor_fid=2, cast_key=cast.cast_key)
    older = ActionFactory(at=NOW - 3 * DAY)
    InteractionFactory(agent=AgentFactory(), at=AT, actor_fid=3, cast_key=older.cast_key)
    assert counted() == [(cast.agent_id, 1)]


def test_a_cast_that_two_agents_are_reported_to_have_written_counts_for_both():
    agents = AgentFactory.create_batch(2)
    for fid, agent in enumerate(agents, 1):
        ActionFactory(agent=agent, at=AT - fid * DAY, cast_key=5)
        InteractionFactory(agent=agent, at=AT, actor_fid=fid, cast_key=5)
    assert counted() == [(agents[0].pk, 1), (agents[1].pk, 2)]


@pytest.mark.parametrize("interval", Interval)
def test_a_cast_of_before_the_interval_counts_as_much_as_one_of_within_it(interval):
    agent = AgentFactory()
    for fid, at in enumerate((AT, NOW - 40 * DAY), 1):
        InteractionFactory(agent=agent, at=AT, actor_fid=fid, cast_key=ActionFactory(agent=agent, at=at).cast_key)
    assert counted(interval) == [(agent.pk, 1), (agent.pk, 2)]


def test_an_interaction_that_was_reported_before_its_cast_counts_from_then_on():
    agent = AgentFactory()
    InteractionFactory(agent=agent, at=AT, actor_fid=1, cast_key=9)
    assert counted() == []
    ActionFactory(agent=agent, at=AT - timedelta(minutes=1), cast_key=9)
    assert counted() == [(agent.pk, 1)]
    assert Interaction.objects.count() == 1


def test_a_message_that_was_reported_as_a_reply_and_as_a_quote_of_one_cast_counts_once():
    cast, other = (ActionFactory(agent=agent, at=AT) for agent in AgentFactory.create_batch(2))
    about = {"at": AT, "agent": cast.agent, "cast_key": cast.cast_key, "actor_fid": 1}
    for kind in (QUOTE, REPLY):
        InteractionFactory(**about, kind=kind, message_key=100)
    # Another message, another account's, and one about another agent's cast.
    InteractionFactory(**about, kind=QUOTE, message_key=101)
    InteractionFactory(**(about | {"actor_fid": 2}), kind=QUOTE, message_key=100)
    InteractionFactory(**(about | {"agent": other.agent, "cast_key": other.cast_key}), kind=QUOTE, message_key=100)
    assert counted() == sorted([(cast.agent_id, 1)] * 2 + [(cast.agent_id, 2), (other.agent_id, 1)])


@pytest.mark.django_db(transaction=True)
def test_one_message_reported_as_a_reply_and_as_a_quote_is_one_cast_and_one_interaction():
    events = [
        reported.agent(),
        reported.action("c1", kind="reply"),
        reported.action("c2", kind="quote"),
        reported.reply("y1"),
        reported.reply("y2", kind="quote"),
    ]
    for source in ("one", "another"):
        record_events(
            [parse_event(event, latest=latest_accepted_time(LATER)) for event in events], reporter=Reporter(source)
        )
    build_snapshot(Interval.DAY, computed_at=LATER)
    assert (Action.objects.count(), Interaction.objects.count()) == (1, 2)
    standing = Standing.objects.get()
    assert (standing.posts, standing.replies, standing.quotes, standing.interactions) == (0, 1, 0, 1)


def test_a_report_by_the_operator_confirms_what_a_key_reported(settings):
    settings.FARCASTER_HUB_URL = "http://127.0.0.1:9"
    partner = Reporter(source="key", partner_key_id=PartnerKeyFactory().pk)
    operator = Reporter(source="operator")

    def record(reporter, *events):
        parsed = [parse_event(event, latest=latest_accepted_time(LATER)) for event in events]
        return record_events(parsed, reporter=reporter).added

    assert record(partner, reported.agent(), reported.like(), reported.reply(actorFid=9)) == 3
    # The same like, claimed by another agent.
    claim = reported.agent("b", agentId="two"), reported.like("claimed", agentId="two")
    assert record(partner, *claim) == 2
    assert not Interaction.objects.filter(is_confirmed=True).exists()
    assert record(operator, reported.like("same"), reported.like("new", actorFid=10)) == 1
    assert record(partner, reported.like("again", actorFid=10)) == 0
    confirmed = Interaction.objects.filter(is_confirmed=True)
    assert sorted(confirmed.values_list("agent__agent_id", "actor_fid")) == [("one", 8), ("one", 10)]
