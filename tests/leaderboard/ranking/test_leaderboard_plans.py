"""Query plans for pages and facts: they use their indexes, on larger tables."""

import re

import pytest
from django.db import connection, models
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.facts import loading
from leaderboard.models import Action, Agent, Interaction, Interval, Run, Snapshot, SocialScore, Standing
from leaderboard.ranking import pruning, standing_pages
from leaderboard.ranking.standing_cursors import StandingPosition
from tests.processes.template_database import restore_template_rows
from tests.rows.agent_factories import (
    ActionFactory,
    AgentFactory,
    InteractionFactory,
    RunFactory,
    SnapshotFactory,
    SocialScoreFactory,
    StandingFactory,
)
from tests.rows.many_tokens import ROWS, multiply, settle
from tests.rows.query_plans import plans

pytestmark = pytest.mark.django_db

_KEY = {"key": "gen_random_uuid()"}
# A fact each twenty minutes for seventy days: 72 a day.
_TIME = "now() - n * interval '20 minutes'"
_COPIED = re.compile(r"COPY \((.*)\) TO STDOUT .*", re.DOTALL)


@pytest.fixture(scope="module")
def rows(django_db_setup, django_db_blocker):
    """Create an agent's facts, and a ranking with many agents; gone after this module."""
    with django_db_blocker.unblock():
        multiply(AgentFactory(fid=None), {"id": "n + 1000000", "agent_id": "'many-' || n"})
        agent = Agent.objects.earliest("pk")
        multiply(RunFactory(agent=agent), _KEY | {"started_at": _TIME, "finished_at": _TIME})
        multiply(
            ActionFactory(agent=agent),
            _KEY | {"at": _TIME, "cast_key": "1000000 + n", "cast_hash": "'0x' || lpad(to_hex(n), 40, '0')"},
        )
        multiply(InteractionFactory(agent=agent), _KEY | {"at": _TIME, "actor_fid": "n"})
        multiply(SocialScoreFactory(), {"id": "n + 1000000", "fid": "1 + n % 100", "at": _TIME})
        snapshot = SnapshotFactory(ranked=ROWS)
        multiply(StandingFactory(snapshot=snapshot, rank=None), _STANDINGS)
        for model in _MODELS:
            settle(model._meta.db_table)
        yield
        restore_template_rows()


_STANDINGS = {"id": "n + 1000000", "agent_id": "n + 1000000", "rank": "n"}
_MODELS: tuple[type[models.Model], ...] = (Run, Action, Interaction, SocialScore, Standing, Snapshot, Agent)


def facts_plans():
    """Return table -> the plan that reads a day's facts from it."""
    with CaptureQueriesContext(connection) as queries, connection.cursor() as cursor:
        loading.load_facts(cursor, computed_at=timezone.now(), interval=Interval.DAY)
    copied = [found.group(1) for query in queries if (found := _COPIED.fullmatch(query["sql"]))]
    assert len(copied) >= 6
    found = {}
    with connection.cursor() as cursor:
        for statement in copied:
            cursor.execute(f"EXPLAIN {statement}")
            # Rows are looked up by name in another way than by interval.
            named = "named " if "FROM unnest" in statement else ""
            table = re.search(r"FROM (leaderboard_\w+)", statement)[1]
            found[named + table] = "\n".join(line for (line,) in cursor.fetchall())
    return found


def test_a_days_facts_are_found_by_their_time(rows):
    found = facts_plans()
    for table in ("run", "action", "interaction"):
        plan = found[f"leaderboard_{table}"]
        assert f"{table}_time" in plan and f"Seq Scan on leaderboard_{table}" not in plan


def test_the_newest_score_of_an_account_is_the_first_in_its_index(rows):
    plan = facts_plans()["named leaderboard_socialscore"]
    assert "social_score_once" in plan and "Sort" not in plan.partition("social_score_once")[2]
    assert "Seq Scan on leaderboard_socialscore" not in plan


def test_casts_of_before_the_day_are_found_in_their_index_only(rows):
    plan = facts_plans()["named leaderboard_action"]
    assert "Index Only Scan using action_cast_once" in plan
    assert "Index Cond: ((cast_key = wanted.cast_key) AND (agent_id = wanted.agent_id))" in plan


def test_replies_that_are_reported_as_quotes_too_are_found_by_what_makes_them_one_fact(rows):
    plan = facts_plans()["leaderboard_interaction"]
    assert "using interaction_once on leaderboard_interaction reply" in plan and "hashed" not in plan


@pytest.mark.parametrize("offset", [0, 25, ROWS - 25])
def test_a_page_is_a_part_of_an_index_however_far_down_it_is(rows, offset):
    current = Snapshot.objects.get(is_current=True)
    for place in (StandingPosition(offset), StandingPosition(offset, current.pk)):
        (plan,) = plans(
            lambda place=place: standing_pages.read_standing_page(Interval.DAY, place, limit=25, with_score=True),
            "leaderboard_standing",
        )
        assert "Index Scan using standing_rank_once" in plan and "Seq Scan on leaderboard_standing" not in plan
        assert f"(rank > {offset}) AND (rank <= {offset + 25})" in plan.partition("Index Cond:")[2]


def test_old_facts_are_found_by_their_time(rows):
    for table in ("run", "action", "interaction"):
        plan, *_ = plans(pruning.prune_facts, f"leaderboard_{table}")
        assert f"{table}_time" in plan and "Seq Scan" not in plan


def test_old_scores_are_found_by_their_time(rows, settings):
    settings.LEADERBOARD_FACT_DAYS = 60
    plan, *_ = plans(pruning.prune_facts, "leaderboard_socialscore")
    assert "using social_score_time" in plan
    assert "Seq Scan" not in plan
