"""Tests of leaderboard/facts/loading.py: facts as columns, their interval, and each field's value."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.db import DatabaseError, connection, transaction

from leaderboard.facts.binary_copy import INT64, UnexpectedRowFormatError, copy_columns
from leaderboard.facts.loading import load_facts, repeatable_read
from leaderboard.models import Action, ActionKind, Interaction, Interval, Run
from tests.rows.agent_factories import (
    ActionFactory,
    AgentFactory,
    InteractionFactory,
    RunFactory,
    SocialScoreFactory,
)
from tests.rows.factories import PartnerKeyFactory

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 2, 7, 3, 50, 49, tzinfo=UTC)
SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
AT = NOW - timedelta(hours=1)
# More than one batch in memory, and more accounts and casts than one statement names.
MANY = 63_000


def read(interval=Interval.DAY, computed_at=NOW):
    with connection.cursor() as cursor:
        return load_facts(cursor, computed_at=computed_at, interval=interval)


def rows(columns):
    """Return the rows in a group of columns, in a fixed order."""
    return sorted(zip(*(getattr(columns, name).tolist() for name in columns.__dataclass_fields__), strict=True))


def unix(moment):
    return int(moment.timestamp())


def test_without_agents_all_columns_are_empty():
    facts = read()
    assert (facts.computed_at, facts.seconds) == (unix(NOW), 86_400)
    for part in (facts.agents, facts.runs, facts.actions, facts.interactions, facts.accounts):
        assert rows(part) == []
    assert facts.interactions.agent.dtype == np.int32 and facts.actions.kind.dtype == np.int8
    interactions = facts.interactions
    assert facts.runs.succeeded.dtype == interactions.is_confirmed.dtype == interactions.is_current.dtype == np.bool_
    assert facts.accounts.scores.dtype == np.float64


def test_agents_come_by_their_rows_with_zero_for_unknown_numbers():
    known, unknown = AgentFactory(fid=7, creator_fid=8), AgentFactory(fid=None, is_hidden=True)
    assert rows(read().agents) == [(known.pk, 7, 8), (unknown.pk, 0, 0)]


def test_agents_come_with_their_reporters():
    keys = PartnerKeyFactory.create_batch(2)
    for key in (keys[1], None, keys[0]):
        AgentFactory(partner_key=key)
    facts = read()
    assert facts.reporters.tolist() == [keys[1].pk, 0, keys[0].pk]
    assert len(set(facts.owner_numbers().tolist())) == 3


def test_an_owner_is_a_reporter_and_a_creator():
    one, other = PartnerKeyFactory.create_batch(2)
    owners = [(one, 7), (one, 8), (other, 7), (None, 7), (one, None)]
    for key, creator in (*owners, *owners, (None, None), (None, None)):
        AgentFactory(partner_key=key, creator_fid=creator)
    numbers = read().owner_numbers().tolist()
    assert numbers[:5] == numbers[5:10] and len(set(numbers)) == 7


def test_each_fact_comes_with_its_fields():
    # The agents' row ids have gaps.
    first, gone, second = AgentFactory(), AgentFactory(), AgentFactory()
    gone.delete()
    RunFactory(agent=second, finished_at=AT, succeeded=False)
    RunFactory(agent=first, finished_at=AT)
    ActionFactory(agent=second, at=AT, kind=ActionKind.QUOTE, cast_key=-(2**63), cast_hash="0x" + "0" * 40)
    for fid, is_confirmed in ((9, True), (2**62, False)):
        InteractionFactory(agent=second, at=AT, actor_fid=fid, cast_key=-(2**63), is_confirmed=is_confirmed)
    facts, at = read(), unix(AT)
    assert rows(facts.runs) == [(0, at, True), (1, at, False)]
    assert rows(facts.actions) == [(1, at, 3, -(2**63))]
    assert rows(facts.interactions) == [(1, 9, True, True), (1, 2**62, False, True)]


@pytest.mark.parametrize("interval", Interval)
def test_an_interval_begins_after_its_first_second_and_ends_with_its_last(interval):
    agent, begin = AgentFactory(), NOW - interval.length
    within = [begin + SECOND, begin + SECOND * 1.5, NOW, NOW + SECOND * 0.999]
    # For a day's ranking, a week's interactions are read.
    earlier = [begin - DAY, begin, begin + SECOND * 0.999]
    beyond = [*earlier, NOW + SECOND, NOW + DAY]
    for number, at in enumerate(within + beyond):
        RunFactory(agent=agent, finished_at=at)
        cast = ActionFactory(agent=agent, at=at)
        InteractionFactory(agent=agent, at=at, actor_fid=number + 1, cast_key=cast.cast_key)
    facts = read(interval, computed_at=NOW + SECOND * 0.25)
    expected = sorted(unix(at) for at in within)
    assert facts.computed_at - facts.seconds < expected[0] and expected[-1] == facts.computed_at
    assert sorted(facts.runs.finished_at.tolist()) == expected
    assert sorted(facts.actions.at.tolist()) == expected
    judged = [1, 2, 3, 4, *([5, 6, 7] if interval is Interval.DAY else [])]
    # No other account is looked up.
    assert sorted(facts.interactions.actor.tolist()) == facts.accounts.fids.tolist() == judged
    assert sorted(facts.interactions.actor[facts.interactions.is_current].tolist()) == [1, 2, 3, 4]


def test_accounts_have_their_newest_score_up_to_then():
    agent = AgentFactory(creator_fid=5)
    for cast, fid in enumerate((3, 9, 9, 4)):
        ActionFactory(agent=agent, cast_key=cast)
        InteractionFactory(agent=agent, at=AT, actor_fid=fid, cast_key=cast)
    for at, score in ((NOW + SECOND, 0.9), (NOW - DAY, 0.2), (NOW - 40 * DAY, 0.1)):
        SocialScoreFactory(fid=9, at=at, score=score)
    SocialScoreFactory(fid=5, at=NOW, score=1.0)
    SocialScoreFactory(fid=4, at=NOW + DAY)
    SocialScoreFactory(fid=77, at=AT)
    accounts = read().accounts
    assert accounts.fids.tolist() == [3, 4, 5, 9]
    np.testing.assert_array_equal(accounts.scores, [np.nan, np.nan, 1.0, 0.2])


def test_many_facts_come_in_many_pieces():
    agent = AgentFactory()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO leaderboard_interaction"
            " (key, agent_id, at, kind, actor_fid, cast_key, message_key, text_key, is_confirmed)"
            " SELECT gen_random_uuid(), %s, %s - n * interval '1 second', 1 + n %% 4, n, n * 7, n, 0, n %% 3 = 0"
            " FROM generate_series(1, %s) AS n",
            [agent.pk, NOW, MANY],
        )
        # More casts from before the day than one statement names.
        cursor.execute(
            "INSERT INTO leaderboard_action (key, agent_id, at, kind, cast_hash, cast_key, text_key)"
            " SELECT gen_random_uuid(), %s, %s - n * interval '16 s', 1, '0x' || lpad(to_hex(n), 40, '0'), n * 7, 0"
            " FROM generate_series(1, %s) AS n",
            [agent.pk, NOW, MANY],
        )
    facts = read()
    numbers = np.arange(1, MANY + 1)
    order = np.argsort(facts.interactions.actor)
    assert (facts.interactions.actor[order] == numbers).all()
    assert (facts.interactions.is_confirmed[order] == (numbers % 3 == 0)).all()
    assert (facts.accounts.fids == numbers).all() and np.isnan(facts.accounts.scores).all()


@pytest.mark.parametrize("query", ["SELECT NULL::bigint", "SELECT 1::integer", "SELECT 1::bigint, 2::bigint"])
@pytest.mark.parametrize("count", [1, 2, 7, 1000])
def test_rows_of_another_width_are_refused(query, count):
    with connection.cursor() as cursor, pytest.raises(UnexpectedRowFormatError):
        copy_columns(cursor, f"{query} FROM generate_series(1, %s)", (count,), {"value": INT64})


def test_a_percent_sign_in_a_query_is_no_parameter():
    with connection.cursor() as cursor:
        found = copy_columns(cursor, "SELECT 7 %% 4::bigint WHERE 'a%%' = %s", ("a%",), {"value": INT64})
    assert found["value"].tolist() == [3]


@pytest.mark.django_db(transaction=True)
def test_all_is_read_as_it_was_at_one_moment_and_nothing_is_written():
    cast = ActionFactory()
    InteractionFactory(agent=cast.agent, at=AT, cast_key=cast.cast_key)
    with repeatable_read() as cursor:
        cursor.execute("SELECT 1")
        other = connection.copy()
        try:
            with other.cursor() as meanwhile:
                meanwhile.execute(
                    "DELETE FROM leaderboard_interaction; DELETE FROM leaderboard_action; DELETE FROM leaderboard_agent"
                )
        finally:
            other.close()
        facts = load_facts(cursor, computed_at=NOW, interval=Interval.DAY)
        assert (len(facts.agents.ids), len(facts.interactions.actor)) == (1, 1)
        with pytest.raises(DatabaseError, match="read-only"), transaction.atomic():
            cursor.execute("DELETE FROM leaderboard_agent")
    assert [model.objects.count() for model in (Action, Interaction, Run)] == [0, 0, 0]


@pytest.mark.django_db(transaction=True)
def test_within_another_transaction_nothing_is_read():
    with transaction.atomic(), pytest.raises(RuntimeError), repeatable_read():
        pass
