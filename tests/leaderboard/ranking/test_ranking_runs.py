"""Ranking runs: their agents, their schedule, replacement, and pruning."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from django.db import OperationalError, connection
from django.utils import timezone

from config.postgresql.advisory_locks import LockHeldError, session_lock
from config.settings.celery_schedule import SCHEDULE
from leaderboard import tasks
from leaderboard.models import (
    Action,
    Agent,
    HubCast,
    Interaction,
    Interval,
    Run,
    Snapshot,
    SocialScore,
    Standing,
    Trade,
)
from leaderboard.ranking import pruning, schedule, scoring, snapshot_building
from tests.processes.at_once import blocked_sessions, own_connection
from tests.processes.database_gates import database_gate
from tests.processes.waiting import wait_for
from tests.rows.agent_factories import (
    ActionFactory,
    AgentFactory,
    HubCastFactory,
    InteractionFactory,
    RunFactory,
    SnapshotFactory,
    SocialScoreFactory,
    StandingFactory,
    TradeFactory,
)
from tests.rows.factories import TokenFactory
from tokens.models import Token

pytestmark = pytest.mark.django_db(transaction=True)

NOW = datetime(2026, 2, 7, 3, 50, 49, tzinfo=UTC)
AT = NOW - timedelta(hours=1)
LATER = NOW + timedelta(minutes=5)
STANDINGS = "leaderboard_standing"


def ranked(snapshot):
    """Return a ranking's agents, from the first on, and the unranked ones."""
    standings = Standing.objects.filter(snapshot=snapshot)
    return (
        list(standings.filter(rank__isnull=False).order_by("rank").values_list("rank", "agent_id")),
        set(standings.filter(rank__isnull=True).values_list("agent_id", flat=True)),
    )


def current():
    return list(Snapshot.objects.filter(is_current=True).values_list("interval", "computed_at"))


@own_connection
def in_thread(interval, computed_at):
    return snapshot_building.build_snapshot(interval, computed_at=computed_at)


@pytest.fixture
def pool():
    with ThreadPoolExecutor(2) as running:
        yield running


def test_agents_with_a_listed_token_are_ranked_and_the_others_are_beside_them():
    idle, busy, equal = (AgentFactory(launched=True) for _ in range(3))
    hidden = AgentFactory(launched=True, is_hidden=True)
    blocked = AgentFactory(token=TokenFactory(blocked=True))
    dropped = AgentFactory(token=TokenFactory(unindexed=True))
    unknown = AgentFactory(token_chain_id=8453, token_address="0x" + "1" * 40)
    alone = AgentFactory()
    token = TokenFactory()
    elsewhere = AgentFactory(token_chain_id=token.chain_id + 1, token_address=token.contract_address)
    for agent in (busy, hidden, alone):
        for _ in range(5):
            RunFactory(agent=agent, finished_at=AT)
            ActionFactory(agent=agent, at=AT)
    snapshot = snapshot_building.build_snapshot(Interval.DAY, computed_at=NOW)
    # With equal scores, the older agent is ahead.
    assert ranked(snapshot) == (
        [(1, busy.pk), (2, idle.pk), (3, equal.pk)],
        {agent.pk for agent in (hidden, blocked, dropped, unknown, alone, elsewhere)},
    )
    assert (snapshot.ranked, snapshot.scoring_version, snapshot.computed_at) == (3, scoring.VERSION, NOW)
    assert current() == [("24h", NOW)]


def test_a_standing_has_the_agent_as_it_was_then():
    agent = AgentFactory(name="Tab\there\\", creator_fid=7, token=TokenFactory(name="Тройка\n", symbol="TRO\\IKA"))
    SocialScoreFactory(fid=7, at=AT, score=0.25)
    RunFactory(agent=agent, finished_at=AT)
    RunFactory(agent=agent, finished_at=AT, succeeded=False)
    cast = ActionFactory(agent=agent, at=AT + timedelta(minutes=1))
    InteractionFactory(agent=agent, at=NOW, cast_key=cast.cast_key)
    snapshot_building.build_snapshot(Interval.DAY, computed_at=NOW + timedelta(milliseconds=700))
    Agent.objects.update(name="Other")
    Token.objects.update(name="Other")
    standing = Standing.objects.get()
    stored = (standing.agent_name, standing.public_id, standing.fid, standing.creator_fid, standing.creator_score)
    assert stored == ("Tab\there\\", agent.agent_id, agent.fid, 7, 0.25)
    assert (standing.token_chain_id, standing.token_address) == (agent.token_chain_id, agent.token_address)
    assert (standing.token_name, standing.token_symbol) == ("Тройка\n", "TRO\\IKA")
    assert (standing.runs_succeeded, standing.runs_failed) == (1, 1)
    assert (standing.posts, standing.replies, standing.quotes, standing.interactions) == (1, 0, 0, 1)
    assert (standing.last_active_at, standing.snapshot.computed_at) == (AT + timedelta(minutes=1), NOW)
    assert standing.wash_flags == []
    assert 0 < standing.composite < 100 and all(0 <= part <= 1 for part in standing.components.values())


def test_what_is_unknown_is_null():
    AgentFactory(fid=None, creator_fid=9)
    snapshot_building.build_snapshot(Interval.MONTH, computed_at=NOW)
    standing = Standing.objects.get()
    assert (standing.rank, standing.fid, standing.creator_score, standing.last_active_at) == (None,) * 4
    assert (standing.token_chain_id, standing.token_address) == (None, "")


def test_a_ranking_takes_the_place_of_the_one_before_and_of_no_other_interval():
    AgentFactory(launched=True)
    day, week = (
        snapshot_building.build_snapshot(interval, computed_at=NOW) for interval in (Interval.DAY, Interval.WEEK)
    )
    later = snapshot_building.build_snapshot(Interval.DAY, computed_at=LATER)
    day.refresh_from_db()
    assert not day.is_current and timezone.now() - day.replaced_at < timedelta(minutes=1)
    assert set(Snapshot.objects.filter(is_current=True)) == {week, later}


def test_a_ranking_of_an_earlier_time_takes_no_place():
    AgentFactory(launched=True)
    later = snapshot_building.build_snapshot(Interval.DAY, computed_at=LATER)
    assert snapshot_building.build_snapshot(Interval.DAY, computed_at=NOW) == later
    assert (current(), Snapshot.objects.count(), Standing.objects.count()) == ([("24h", LATER)], 1, 1)


def test_one_ranking_is_made_at_a_time_and_seen_when_it_is_whole(pool, service_environment):
    AgentFactory(launched=True)
    first = snapshot_building.build_snapshot(Interval.DAY, computed_at=NOW)
    with database_gate(service_environment["DATABASE_URL"], STANDINGS) as gate:
        second = pool.submit(in_thread, Interval.DAY, LATER)
        gate.wait()
        assert current() == [("24h", NOW)] and Snapshot.objects.get() == first
        for interval in Interval:
            with pytest.raises(LockHeldError):
                snapshot_building.build_snapshot(interval, computed_at=LATER)
        # Nor does a task block on the lock.
        tasks.make_rankings()
        assert Snapshot.objects.count() == 1
        gate.lose()
        assert second.result().computed_at == LATER
    assert current() == [("24h", LATER)] and Standing.objects.count() == 2


def test_what_is_broken_off_leaves_nothing_behind(pool, service_environment):
    AgentFactory(launched=True)
    snapshot_building.build_snapshot(Interval.DAY, computed_at=NOW)
    with database_gate(service_environment["DATABASE_URL"], STANDINGS) as gate:
        broken = pool.submit(in_thread, Interval.DAY, LATER)
        gate.wait()
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
                " WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()"
            )
        with pytest.raises(OperationalError):
            broken.result()
    assert (current(), Snapshot.objects.count(), Standing.objects.count()) == ([("24h", NOW)], 1, 1)
    assert snapshot_building.build_snapshot(Interval.DAY, computed_at=LATER).is_current


@pytest.mark.parametrize(("second", "left"), [(LATER, LATER), (NOW - timedelta(minutes=5), NOW)])
def test_a_run_that_lost_its_lock_and_the_next_owner_do_each_other_no_harm(pool, service_environment, second, left):
    AgentFactory(launched=True)
    with database_gate(service_environment["DATABASE_URL"], STANDINGS) as gate:
        slow = pool.submit(in_thread, Interval.DAY, NOW)
        gate.wait()
        with connection.cursor() as cursor:
            # The lock's connection does nothing else.
            cursor.execute(
                "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
                " WHERE query LIKE 'SELECT pg_try_advisory_lock%%' AND datname = current_database()"
            )
        other = pool.submit(in_thread, Interval.DAY, second)
        wait_for(lambda: blocked_sessions() == 2)
        gate.lose()
        assert slow.result().computed_at == NOW
        assert other.result().computed_at == left
    assert current() == [("24h", left)]


@pytest.mark.django_db
def test_without_agents_no_ranking_is_due():
    assert schedule.due_intervals(NOW) == []
    tasks.make_rankings()
    assert not Snapshot.objects.exists()


@pytest.mark.django_db
def test_rankings_are_due_as_often_as_the_settings_define(settings):
    settings.LEADERBOARD_SECONDS = {"24h": 300, "7d": 900, "30d": 3600}
    AgentFactory()
    assert set(schedule.due_intervals(NOW)) == set(Interval)
    for interval in Interval:
        SnapshotFactory(interval=interval, computed_at=NOW)
    for seconds, expected in ((0, []), (299, []), (300, ["24h"]), (900, ["24h", "7d"]), (3600, ["24h", "7d", "30d"])):
        assert sorted(schedule.due_intervals(NOW + timedelta(seconds=seconds))) == sorted(expected)


@pytest.mark.django_db
@pytest.mark.parametrize("late", ["7d", "30d"])
def test_a_ranking_that_is_due_is_the_first_of_all_in_its_turn(settings, late):
    """Check that a day's ranking is due at each beat, and no other one meanwhile."""
    settings.LEADERBOARD_SECONDS = {"24h": 0, "7d": 900, "30d": 900}
    AgentFactory()
    for interval in Interval:
        SnapshotFactory(interval=interval, computed_at=NOW - timedelta(seconds=900 if interval == late else 0))
    beat = next(entry["schedule"] for entry in SCHEDULE.values() if entry["task"] == "leaderboard.tasks.make_rankings")
    turns = [schedule.due_intervals(NOW + timedelta(seconds=beat * number)) for number in range(3)]
    assert all(set(turn) == {"24h", late} for turn in turns)
    assert {turn[0] for turn in turns} == {"24h", late}


def build_has_ended():
    return not schedule.is_building()


def test_the_task_makes_what_is_due(monkeypatch, service_environment, capfd):
    for name, value in service_environment.items():
        monkeypatch.setenv(name, value)
    AgentFactory(launched=True)
    # The second run finds the first one's build, and the third nothing due.
    tasks.make_rankings()
    tasks.make_rankings()
    wait_for(build_has_ended)
    tasks.make_rankings()
    assert build_has_ended()
    assert set(Snapshot.objects.values_list("interval", "is_current")) == {(one.value, True) for one in Interval}
    Snapshot.objects.update(computed_at=AT)
    # Only a former version sends it.
    tasks.make_ranking(Interval.WEEK.value)
    wait_for(build_has_ended)
    assert Snapshot.objects.filter(computed_at__gt=AT).values_list("interval", flat=True).get() == Interval.WEEK
    capfd.readouterr()
    with session_lock(schedule.RANKING_LOCK):
        schedule.start_build([Interval.WEEK])
        wait_for(build_has_ended)
    assert Snapshot.objects.count() == 4
    assert capfd.readouterr() == ("", "")


def test_the_task_fails_with_its_process(monkeypatch, service_environment):
    AgentFactory(launched=True)
    for name, value in (service_environment | {"PORT": "nonsense"}).items():
        monkeypatch.setenv(name, value)
    tasks.make_rankings()
    with pytest.raises(subprocess.CalledProcessError):
        wait_for(build_has_ended)
    assert build_has_ended()


def test_a_build_that_is_stuck_ends(monkeypatch, service_environment):
    AgentFactory(launched=True)
    for name, value in service_environment.items():
        monkeypatch.setenv(name, value)
    with database_gate(service_environment["DATABASE_URL"], STANDINGS):
        schedule.start_build([Interval.DAY], timeout=1)
        with pytest.raises(subprocess.CalledProcessError, match="SIGALRM"):
            wait_for(build_has_ended)
    assert not Snapshot.objects.exists()


def test_operators_have_rankings_made_before_they_are_due(capsys):
    AgentFactory(launched=True)
    call_command("compute_leaderboard", "--interval", "7d")
    assert capsys.readouterr().out.startswith("7d: 1 agents ranked in ")
    call_command("compute_leaderboard")
    assert Snapshot.objects.filter(is_current=True).count() == 3 and Snapshot.objects.count() == 4
    with (
        session_lock(schedule.RANKING_LOCK),
        pytest.raises(SystemExit, match="75"),
    ):
        call_command("compute_leaderboard")
    assert capsys.readouterr().out.endswith("A worker is building a ranking; try again when it has finished.\n")


def test_rankings_wait_in_a_queue_of_their_own():
    routes = django_settings.CELERY_TASK_ROUTES
    slow = ("pull_hub", "make_rankings", "make_ranking", "prune_rankings", "prune_facts")
    assert {routes[f"leaderboard.tasks.{name}"]["queue"] for name in slow} == {"leaderboard"}


@pytest.mark.django_db
def test_replaced_rankings_are_kept_for_a_while(settings):
    now, agent = timezone.now(), AgentFactory()
    kept, old = (
        SnapshotFactory(is_current=False, replaced_at=now - timedelta(minutes=minutes)) for minutes in (29, 31)
    )
    older = SnapshotFactory(is_current=False, replaced_at=now - timedelta(days=9), computed_at=now - timedelta(days=9))
    old_current = SnapshotFactory(computed_at=now - timedelta(days=9))
    for snapshot in (kept, old, older, old_current):
        StandingFactory(snapshot=snapshot, agent=agent)
    tasks.prune_rankings()
    assert set(Snapshot.objects.all()) == {kept, old_current}
    assert set(Standing.objects.values_list("snapshot_id", flat=True)) == {kept.pk, old_current.pk}


def test_rankings_go_as_fast_as_they_can_be_made():
    beats = {entry["task"]: entry["schedule"] for entry in SCHEDULE.values()}
    pruning_seconds = beats["leaderboard.tasks.prune_rankings"]
    SnapshotFactory.create_batch(
        int(len(Interval) * pruning_seconds / beats["leaderboard.tasks.make_rankings"]),
        is_current=False,
        replaced_at=timezone.now() - timedelta(days=1),
    )
    tasks.prune_rankings()
    assert not Snapshot.objects.exists()
    # It reads every account that ever had a score.
    assert beats["leaderboard.tasks.prune_facts"] == 3600


@pytest.mark.django_db
def test_facts_are_deleted_when_they_are_old(settings):
    settings.LEADERBOARD_FACT_DAYS = 90
    now, agent = timezone.now(), AgentFactory()
    kept, old = now - timedelta(days=89), now - timedelta(days=91)
    for at in (kept, old):
        RunFactory(agent=agent, finished_at=at)
        HubCastFactory(action__agent=agent, action__at=at)
        InteractionFactory(agent=agent, at=at)
        TradeFactory(agent=agent, at=at)
    assert pruning.prune_facts() == 4
    assert [row.at for model in (Action, Interaction, Trade) for row in model.objects.all()] == [kept] * 3
    assert [run.finished_at for run in Run.objects.all()] == [kept]
    assert HubCast.objects.count() == 1


@pytest.mark.django_db
def test_of_old_scores_the_last_one_of_each_account_stays(settings):
    settings.LEADERBOARD_FACT_DAYS = 90
    now = timezone.now()
    for fid, days in ((1, (95, 93, 91)), (2, (95,)), (3, (91, 89)), (4, (10,))):
        for day in days:
            SocialScoreFactory(fid=fid, at=now - timedelta(days=day), score=day / 100)
    tasks.prune_facts()
    left = SocialScore.objects.order_by("fid", "-score").values_list("fid", "score")
    assert list(left) == [(1, 0.91), (2, 0.95), (3, 0.91), (3, 0.89), (4, 0.1)]
