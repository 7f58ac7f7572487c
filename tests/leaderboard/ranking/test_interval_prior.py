"""The prior of a day's ranking: the week's wash confidence, since a day has few interactions of each agent."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.admin.evidence import render_evidence
from leaderboard.facts.columns import IntervalFacts, PriorFinding
from leaderboard.facts.loading import load_facts
from leaderboard.models import Interval, Standing
from leaderboard.ranking.scoring import score_agents
from leaderboard.ranking.snapshot_building import build_snapshot
from tests.rows.agent_factories import AgentFactory, RunFactory, SnapshotFactory, StandingFactory
from tests.rows.wash_scenes import NOW as SCENE_NOW
from tests.rows.wash_scenes import town

NOW = datetime(2026, 2, 7, 3, 50, 49, tzinfo=UTC)
SECOND, MINUTE, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(days=1)
FLAGS = ["BURST_TIMING", "SELF_TRADE"]


def scene() -> tuple[IntervalFacts, int, int]:
    """Build an agent with too few interactions to be judged, and one that is accused."""
    made = town()
    few, farm = made.agent(), made.agent()
    made.like(few, made.person(9_400_003), times=5)
    for number in range(12):
        made.like(farm, made.person(9_500_003 + 2 * number), times=4)
    return made.facts(), few, farm


def doubted(facts: IntervalFacts, agent: int, confidence: float, *flags: str) -> IntervalFacts:
    return replace(facts, prior={agent: PriorFinding(confidence, flags, SCENE_NOW - 60)})


def read(interval=Interval.DAY):
    with connection.cursor() as cursor:
        return load_facts(cursor, computed_at=NOW, interval=interval)


def week(*, computed_at=NOW - 9 * MINUTE, **parts):
    return SnapshotFactory(interval="7d", computed_at=computed_at, **parts)


def test_agents_accused_in_the_longer_ranking_are_accused():
    facts, few, _ = scene()
    alone, judgement = score_agents(facts), score_agents(doubted(facts, few, 0.8, "SELF_TRADE"))
    assert alone.flags[few] == ("INSUFFICIENT_DATA",) and judgement.flags[few] == ("SELF_TRADE",)
    assert judgement.wash_confidence[few] == 0.8
    assert judgement.composite[few] == pytest.approx(0.2 * alone.composite[few], abs=1e-5)
    assert judgement.evidence[few] == {
        "EARLIER": {"confidence": 0.8, "at": SCENE_NOW - 60, "flags": ["SELF_TRADE"]},
    }
    others = np.arange(len(alone.composite)) != few
    assert np.array_equal(alone.composite[others], judgement.composite[others])


def test_a_doubt_that_did_not_accuse_takes_its_share_and_flags_no_agent():
    facts, few, _ = scene()
    judgement = score_agents(doubted(facts, few, 0.4))
    assert (judgement.flags[few], judgement.wash_confidence[few]) == (("INSUFFICIENT_DATA",), 0.4)


def test_the_greater_doubt_holds_and_flags_of_both_are_sorted():
    facts, _, farm = scene()
    alone = score_agents(facts)
    assert 0.5 <= alone.wash_confidence[farm] < 0.95 and "LOW_SCORE_AUDIENCE" in alone.flags[farm]
    less, more = (score_agents(doubted(facts, farm, confidence, *FLAGS)) for confidence in (0.5, 0.95))
    assert less.wash_confidence[farm] == alone.wash_confidence[farm] and less.evidence == alone.evidence
    assert more.wash_confidence[farm] == 0.95
    assert more.flags[farm] == tuple(
        flag
        for flag in ("CONCENTRATED", "BURST_TIMING", "LOW_SCORE_AUDIENCE", "SELF_TRADE")
        if flag in {*alone.flags[farm], *FLAGS}
    )
    assert more.evidence[farm].keys() == {*alone.evidence[farm], "EARLIER"}


@settings(max_examples=15)
@given(confidences=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_more_doubt_never_raises_the_score(confidences):
    facts, _, farm = scene()
    less, more = (
        score_agents(doubted(facts, farm, confidence, *FLAGS)).composite[farm] for confidence in sorted(confidences)
    )
    assert less >= more


@pytest.mark.django_db
def test_a_day_is_read_with_what_the_current_ranking_of_the_week_holds():
    first, innocent, second = AgentFactory.create_batch(3)
    StandingFactory(snapshot=week(is_current=False, replaced_at=NOW), agent=first, wash_confidence=0.9)
    StandingFactory(snapshot=SnapshotFactory(interval="30d", computed_at=NOW), agent=first, wash_confidence=0.7)
    current = week()
    StandingFactory(snapshot=current, rank=1, agent=second, wash_confidence=0.8, wash_flags=FLAGS)
    StandingFactory(snapshot=current, rank=None, agent=first, wash_confidence=0.3)
    StandingFactory(snapshot=current, rank=2, agent=innocent)
    at = int((NOW - 9 * MINUTE).timestamp())
    assert read().prior == {0: PriorFinding(0.3, (), at), 2: PriorFinding(0.8, tuple(FLAGS), at)}
    assert read(Interval.WEEK).prior == read(Interval.MONTH).prior == {}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("computed_at", "count"), [(NOW, 1), (NOW - DAY, 1), (NOW + SECOND, 0), (NOW - DAY - SECOND, 0)]
)
def test_a_ranking_of_the_week_is_a_prior_unless_it_is_later_or_more_than_a_day_older(computed_at, count):
    StandingFactory(snapshot=week(computed_at=computed_at), wash_confidence=0.8)
    assert len(read().prior) == count


@pytest.mark.django_db(transaction=True)
def test_a_standing_of_the_day_has_what_the_week_held_against_the_agent():
    agent = AgentFactory(launched=True)
    RunFactory(agent=agent, finished_at=NOW - MINUTE)
    StandingFactory(snapshot=week(), agent=agent, wash_confidence=0.8, wash_flags=FLAGS)
    build_snapshot(Interval.DAY, computed_at=NOW)
    standing = Standing.objects.get(snapshot__interval="24h")
    assert (standing.wash_confidence, standing.wash_flags) == (0.8, FLAGS)
    page = render_evidence(standing)
    assert "2026-02-07 03:41:49" in page and "SELF_TRADE" in page
