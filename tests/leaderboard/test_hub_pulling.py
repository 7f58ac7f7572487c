"""Tests of leaderboard/hub/pulling.py against a hub on loopback: its facts, and its progress on errors."""

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import SocialProfile
from config.environment.variables import BASE_DIR
from config.redis.connection import redis_client
from config.redis.shared_circuit_breaker import OUTAGE_SECONDS
from development.standins.http_server import Mode
from development.standins.hub_messages import Cast, Reaction
from leaderboard import tasks
from leaderboard.events.recording import lock_fact_writes
from leaderboard.facts import social_scores
from leaderboard.facts.short_keys import cast_key, text_key
from leaderboard.hub import pulling
from leaderboard.hub.cast_messages import FARCASTER_EPOCH, parse_cast, parse_reaction
from leaderboard.models import Action, ActionKind, Agent, HubCast, HubCursor, Interaction, InteractionKind, SocialScore
from tests.processes.at_once import blocked_sessions, own_connection
from tests.processes.waiting import wait_for
from tests.rows.agent_factories import ActionFactory, InteractionFactory
from tests.rows.factories import SocialProfileFactory

pytestmark = pytest.mark.django_db

FID, OTHER = 900, 77
_PULL = "import django; django.setup(); from leaderboard import tasks; tasks.pull_hub()"
ELSEWHERE = (5, "0x" + "ab" * 20)


@pytest.fixture
def farcaster(social, settings):
    """Run the stand-in as a hub, with the circuit breaker closed."""
    settings.SOCIAL_API_KEY, settings.FARCASTER_HUB_URL = "", social.url
    settings.SOCIAL_TIMEOUT_SECONDS = 5.0
    redis_client().delete(pulling.HUB_CIRCUIT_BREAKER.key)
    yield social
    redis_client().delete(pulling.HUB_CIRCUIT_BREAKER.key)


@pytest.fixture
def agent():
    return Agent.objects.create(agent_id="droid", fid=FID)


def ago(**spans):
    """Return a Unix time before now."""
    return int((timezone.now() - timedelta(**spans)).timestamp())


def pull_casts(seconds=60.0):
    return pulling.pull_casts(until=time.monotonic() + seconds)


def pull_interactions(seconds=60.0):
    return pulling.pull_interactions(until=time.monotonic() + seconds)


def make_due():
    HubCursor.objects.update(due_at=timezone.now())
    HubCast.objects.update(due_at=timezone.now())


def calls(social):
    return [requested.path.removeprefix("/v1/") for requested in social.received]


# Refusals.


@pytest.mark.parametrize(
    "change",
    [
        {"hash": "0x12"},
        {"hash": None},
        {"data": None},
        {"data": {"type": "MESSAGE_TYPE_CAST_REMOVE", "fid": 1, "timestamp": 1}},
        {"data": {"type": "MESSAGE_TYPE_CAST_ADD", "fid": True, "timestamp": 1}},
        {"data": {"type": "MESSAGE_TYPE_CAST_ADD", "fid": 0, "timestamp": 1}},
        {"data": {"type": "MESSAGE_TYPE_CAST_ADD", "fid": 2**63, "timestamp": 1}},
        {"data": {"type": "MESSAGE_TYPE_CAST_ADD", "fid": 1, "timestamp": -1}},
        {"data": {"type": "MESSAGE_TYPE_CAST_ADD", "fid": 1, "timestamp": "1"}},
        {"data": {"type": "MESSAGE_TYPE_CAST_ADD", "fid": 1, "timestamp": 2**40}},
    ],
)
def test_a_message_without_what_a_fact_needs_is_left_out(change):
    whole = {"hash": "0x" + "AB" * 20, "data": {"type": "MESSAGE_TYPE_CAST_ADD", "fid": 1, "timestamp": 1}}
    assert parse_cast(whole).hash == "0x" + "ab" * 20
    assert parse_cast({**whole, **change}) is None


@pytest.mark.parametrize("value", [None, [], "text", 5, {"data": []}, {"hash": {}, "data": {"reactionBody": []}}])
def test_what_is_no_message_is_left_out(value):
    assert parse_cast(value) is None
    assert parse_reaction(value) is None


def test_a_reaction_to_an_address_of_the_web_is_none_to_a_cast():
    body = {"type": "REACTION_TYPE_LIKE", "targetUrl": "https://sample.invalid"}
    data = {"type": "MESSAGE_TYPE_REACTION_ADD", "fid": 1, "timestamp": 1, "reactionBody": body}
    assert parse_reaction({"hash": "0x" + "ab" * 20, "data": data}) is None


def test_an_answer_about_another_agent_or_cast_adds_nothing(farcaster, agent):
    cast = Cast(FID, ago(minutes=10))
    farcaster.hub.casts.append(cast)
    pull_casts()
    farcaster.hub.reactions.append(Reaction(OTHER, ago(minutes=5), "Like", (FID, cast.hash)))

    def report_others(requested, body):
        for message in body["messages"]:
            message["data"] = {**message["data"], "fid": 5}
            if "reactionBody" in message["data"]:
                message["data"]["reactionBody"]["targetCastId"] = {"fid": FID, "hash": ELSEWHERE[1]}
        return body

    farcaster.change = report_others
    make_due()
    farcaster.hub.casts.append(Cast(FID, ago(minutes=1)))
    pull_casts()
    pull_interactions()
    assert Action.objects.count() == 1
    assert not Interaction.objects.exists()


def test_a_cast_from_the_future_waits_until_it_is_due(farcaster, agent):
    farcaster.hub.casts += [Cast(FID, ago(hours=-2)), Cast(FID, ago(minutes=1))]
    pull_casts()
    assert Action.objects.count() == 1
    assert HubCursor.objects.get().casts_until == farcaster.hub.casts[1].at - FARCASTER_EPOCH


@pytest.mark.parametrize("mode", [Mode.RATE_LIMIT, Mode.CUT_SHORT, Mode.STALL])
def test_a_hub_without_responses_opens_the_circuit_and_all_agents_are_due_again(farcaster, agent, settings, mode):
    settings.SOCIAL_TIMEOUT_SECONDS = 0.5
    Agent.objects.create(agent_id="second", fid=FID + 1)
    farcaster.behave(mode, seconds=7)
    assert pull_casts() == 0
    assert len(farcaster.received) == 1
    assert pulling.HUB_CIRCUIT_BREAKER.is_open()
    due = [row.due_at - timezone.now() for row in HubCursor.objects.all()]
    pause = 7 if mode == Mode.RATE_LIMIT else OUTAGE_SECONDS
    assert all(timedelta(seconds=pause - 5) < wait <= timedelta(seconds=pause) for wait in due)


@pytest.mark.parametrize("mode", [Mode.FAIL, Mode.NOT_JSON, Mode.WRONG_SHAPE, Mode.WRONG_KEY])
def test_an_answer_of_no_use_holds_up_no_other_agent(farcaster, agent, mode):
    Agent.objects.create(agent_id="second", fid=FID + 1)
    farcaster.hub.casts.append(Cast(FID + 1, ago(minutes=1)))
    farcaster.behave(mode, times=1)
    assert pull_casts() == 2
    assert Action.objects.get().agent.agent_id == "second"
    assert not pulling.HUB_CIRCUIT_BREAKER.is_open()
    failed = HubCursor.objects.get(attempts=1)
    assert failed.agent == agent and failed.last_error
    # With a growing back-off, until it responds: an error at the hub after an hour, a refusal after a day.
    longest = 86_400 if mode == Mode.WRONG_KEY else 3600
    for failures in (2, 3, 99):
        HubCursor.objects.filter(pk=failed.pk).update(due_at=timezone.now(), attempts=failures - 1)
        farcaster.behave(mode, times=1)
        pull_casts()
        failed.refresh_from_db()
        wait = failed.due_at - timezone.now()
        pause = timedelta(seconds=min(60 * 2 ** (failures - 1), longest))
        assert failed.attempts == failures
        assert pause - timedelta(seconds=10) < wait <= pause
    make_due()
    pull_casts()
    failed.refresh_from_db()
    assert (failed.attempts, failed.last_error) == (0, "")


@pytest.mark.parametrize("agents", [pulling.MAX_CONSECUTIVE_FAILURES, pulling.MAX_CONSECUTIVE_FAILURES + 2])
def test_a_hub_that_fails_at_everything_opens_the_circuit(farcaster, agents):
    for number in range(agents):
        Agent.objects.create(agent_id=f"droid-{number}", fid=FID + number)
    farcaster.behave(Mode.FAIL)
    assert pull_casts() == pulling.MAX_CONSECUTIVE_FAILURES == len(farcaster.received)
    assert pulling.HUB_CIRCUIT_BREAKER.is_open()
    spared = HubCursor.objects.filter(attempts=0, last_error="")
    assert spared.count() == agents - pulling.MAX_CONSECUTIVE_FAILURES
    assert not spared.exclude(due_at__lte=timezone.now() + timedelta(seconds=OUTAGE_SECONDS)).exists()


def test_a_hub_that_refuses_many_is_queried_for_the_others(farcaster):
    for number in range(pulling.MAX_CONSECUTIVE_FAILURES + 2):
        Agent.objects.create(agent_id=f"droid-{number}", fid=FID + number)
    farcaster.refuse = lambda requested: (
        400 if int(requested.query["fid"]) <= FID + pulling.MAX_CONSECUTIVE_FAILURES else None
    )
    assert pull_casts() == pulling.MAX_CONSECUTIVE_FAILURES + 2
    assert not pulling.HUB_CIRCUIT_BREAKER.is_open()


def test_a_cast_without_usable_answer_holds_up_no_other(farcaster, agent):
    farcaster.hub.casts += [Cast(FID, ago(hours=2)), Cast(FID, ago(hours=1))]
    pull_casts()
    farcaster.behave(Mode.NOT_JSON, times=1)
    assert pull_interactions() == 2
    assert sorted(HubCast.objects.values_list("attempts", flat=True)) == [0, 1]


def test_it_begins_nothing_when_its_time_is_over(farcaster, agent):
    assert pull_casts(seconds=0.0) == 0
    assert not farcaster.received
    assert pull_casts() == 1


@pytest.mark.parametrize(
    ("following", "trouble"),
    [
        # The page leads to itself, or to one before it.
        (lambda token: "0", "the same page twice"),
        (lambda token: {"": "1", "1": "2", "2": "1"}[token], "invalid or repeated page token"),
        (lambda token: 5, "invalid or repeated page token"),
        (lambda token: "9" * 1001, "invalid or repeated page token"),
    ],
)
def test_a_walk_in_circles_ends(farcaster, agent, following, trouble):
    farcaster.hub.longest_page = 1
    farcaster.hub.casts += [Cast(FID, ago(minutes=minutes)) for minutes in (1, 2, 3)]
    farcaster.change = lambda requested, body: {
        **body,
        "nextPageToken": following(requested.query.get("pageToken", "")),
    }
    pull_casts()
    assert (HubCursor.objects.get().last_error, HubCursor.objects.get().attempts) == (trouble, 1)
    assert len(farcaster.received) <= 3


def test_a_walk_without_an_end_holds_no_agent_up_for_long(farcaster, agent, settings):
    settings.SOCIAL_TIMEOUT_SECONDS = 0.5
    farcaster.hub.longest_page = 1
    second = Agent.objects.create(agent_id="second", fid=FID + 1)
    farcaster.hub.casts.append(Cast(FID + 1, ago(minutes=1)))

    def grow(requested, body):
        token = int(requested.query.get("pageToken") or 0) + 1
        return (
            body if requested.query["fid"] != str(FID) else {"messages": [{"page": token}], "nextPageToken": str(token)}
        )

    farcaster.change = grow
    assert pull_casts() == 2
    assert HubCursor.objects.get(agent=agent).last_error == "last page not reached before the deadline"
    assert Action.objects.get().agent == second


def test_reactions_from_the_future_count_for_nothing(farcaster, agent):
    cast = Cast(FID, ago(hours=1))
    farcaster.hub.casts.append(cast)
    farcaster.hub.reactions.append(Reaction(OTHER, ago(days=-900), "Like", (FID, cast.hash)))
    pull_casts()
    pull_interactions()
    assert not Interaction.objects.exists()


# Accepted messages.


def test_posts_replies_and_quotes_are_distinguished(farcaster, agent):
    farcaster.hub.casts += [
        Cast(FID, ago(minutes=9), text="gm"),
        Cast(FID, ago(minutes=8), parent=ELSEWHERE),
        Cast(FID, ago(minutes=7), quoted=ELSEWHERE),
        Cast(FID, ago(minutes=6), parent=ELSEWHERE, quoted=ELSEWHERE),
        Cast(OTHER, ago(minutes=5)),
    ]
    pull_casts()
    rows = Action.objects.order_by("at")
    assert [row.kind for row in rows] == [ActionKind.POST, ActionKind.REPLY, ActionKind.QUOTE, ActionKind.REPLY]
    first = rows[0]
    assert (first.agent, first.cast_hash) == (agent, farcaster.hub.casts[0].hash)
    assert (first.cast_key, first.text_key) == (cast_key(first.cast_hash), text_key("GM!"))
    assert int(first.at.timestamp()) == farcaster.hub.casts[0].at


def test_likes_recasts_and_replies_are_added_once_however_often_they_are_read(farcaster, agent):
    cast = Cast(FID, ago(hours=1))
    mine = (FID, cast.hash)
    farcaster.hub.casts += [cast, Cast(OTHER, ago(minutes=20), text="nice", parent=mine)]
    farcaster.hub.reactions += [
        Reaction(OTHER, ago(minutes=30), "Like", mine),
        Reaction(OTHER, ago(minutes=25), "Recast", mine),
        Reaction(OTHER, ago(minutes=25), "Like", ELSEWHERE),
    ]
    pull_casts()
    for _ in range(2):
        make_due()
        assert pull_interactions() == 1
    rows = Interaction.objects.order_by("at")
    assert [row.kind for row in rows] == [InteractionKind.LIKE, InteractionKind.RECAST, InteractionKind.REPLY]
    assert {(row.agent_id, row.actor_fid, row.cast_key) for row in rows} == {(agent.pk, OTHER, cast_key(cast.hash))}
    assert [row.text_key for row in rows] == [0, 0, text_key("nice")]
    assert rows[2].message_key == cast_key(farcaster.hub.casts[1].hash)


def test_it_reads_on_from_the_newest_cast_of_the_last_time(farcaster, agent):
    farcaster.hub.longest_page = 2
    farcaster.hub.casts += [Cast(FID, ago(hours=hours)) for hours in range(1, 6)]
    pull_casts()
    assert Action.objects.count() == 5
    assert calls(farcaster) == ["castsByFid"] * 3
    farcaster.received.clear()
    farcaster.hub.casts.append(Cast(FID, ago(minutes=1)))
    make_due()
    pull_casts()
    assert Action.objects.count() == 6
    assert [int(requested.query["startTimestamp"]) for requested in farcaster.received] == [
        farcaster.hub.casts[0].at - FARCASTER_EPOCH - pulling.OVERLAP_SECONDS
    ]


def test_an_empty_page_is_not_the_last_one(farcaster, agent):
    farcaster.hub.longest_page = 1
    farcaster.hub.casts += [Cast(FID, ago(minutes=minutes)) for minutes in (3, 2, 1)]
    farcaster.change = lambda requested, body: (
        {**body, "messages": []} if requested.query.get("pageToken") == "1" else body
    )
    pull_casts()
    assert Action.objects.count() == 2


def test_short_pages_of_what_is_known_do_not_hide_what_is_new(farcaster, agent):
    """Check the overlap: it may have more pages than one run reads."""
    farcaster.hub.longest_page = 1
    number = 2 * pulling.MAX_NEW_PAGES + 5
    farcaster.hub.casts += [Cast(FID, ago(seconds=seconds)) for seconds in range(1, number + 1)]
    for _ in range(3):
        pull_casts()
    assert Action.objects.count() == number
    assert HubCursor.objects.get().due_at > timezone.now()


def test_a_hub_that_goes_back_in_time_takes_nothing_away_and_leaves_nothing_out(farcaster, agent):
    casts = [Cast(FID, ago(hours=hours)) for hours in (5, 4, 3)]
    farcaster.hub.casts += casts
    pull_casts()
    # As from yesterday's copy.
    farcaster.hub.casts[1:] = []
    make_due()
    pull_casts()
    assert Action.objects.count() == 3
    farcaster.hub.casts[:] = [*casts, Cast(FID, ago(hours=2))]
    make_due()
    pull_casts()
    assert Action.objects.count() == 4
    pull_interactions()
    assert not HubCursor.objects.exclude(attempts=0).exists()


def test_a_cast_that_many_like_between_two_readings_misses_none(farcaster, agent):
    farcaster.hub.longest_page = 1
    cast = Cast(FID, ago(hours=5))
    farcaster.hub.casts.append(cast)
    farcaster.hub.reactions += [Reaction(fid, ago(minutes=fid), "Like", (FID, cast.hash)) for fid in range(1, 61)]
    pull_casts()
    pull_interactions()
    assert Interaction.objects.count() == 60
    newest = farcaster.hub.reactions[0].at - FARCASTER_EPOCH
    assert HubCast.objects.get().read_until == newest


def test_what_a_broken_walk_had_read_is_kept_and_the_rest_comes_later(farcaster, agent):
    farcaster.hub.longest_page = 2
    farcaster.hub.casts += [Cast(FID, ago(hours=hours)) for hours in range(1, 6)]
    farcaster.refuse = lambda requested: 503 if requested.query.get("pageToken") == "4" else None
    assert pull_casts() == 0
    assert Action.objects.count() == 4
    farcaster.refuse = lambda requested: None
    make_due()
    pull_casts()
    assert Action.objects.count() == 5


def test_a_broken_walk_over_reactions_leaves_no_gap(farcaster, agent):
    farcaster.hub.longest_page = 2
    cast = Cast(FID, ago(hours=5))
    farcaster.hub.casts.append(cast)
    farcaster.hub.reactions += [Reaction(fid, ago(minutes=fid), "Like", (FID, cast.hash)) for fid in range(1, 240, 40)]
    pull_casts()
    farcaster.refuse = lambda requested: 503 if requested.query.get("pageToken") == "4" else None
    assert pull_interactions() == 0
    # The newest interactions are there, and the progress does not count them.
    assert Interaction.objects.count() == 4
    assert HubCast.objects.get().read_until == 0
    farcaster.refuse = lambda requested: None
    make_due()
    pull_interactions()
    assert Interaction.objects.count() == 6
    # The next time it stops where it was.
    farcaster.received.clear()
    make_due()
    pull_interactions()
    assert calls(farcaster).count("reactionsByCast") == 2


def test_an_agent_that_casts_without_end_is_due_again_at_once(farcaster, agent):
    farcaster.hub.longest_page = 1
    farcaster.hub.casts += [Cast(FID, ago(hours=hours)) for hours in range(1, pulling.MAX_NEW_PAGES + 3)]
    pull_casts()
    assert Action.objects.count() == pulling.MAX_NEW_PAGES
    assert HubCursor.objects.get().due_at <= timezone.now()
    pull_casts()
    assert Action.objects.count() == pulling.MAX_NEW_PAGES + 2


@pytest.mark.parametrize(
    ("age", "due"),
    [
        (timedelta(minutes=2), pulling.MIN_PULL_INTERVAL),
        (timedelta(hours=4), timedelta(hours=2)),
        (timedelta(days=20), pulling.MAX_PULL_INTERVAL),
        (timedelta(days=30, hours=23, minutes=55), pulling.MAX_PULL_INTERVAL),
    ],
)
def test_what_a_cast_got_is_read_ever_more_seldom(farcaster, agent, age, due):
    farcaster.hub.casts.append(Cast(FID, int((timezone.now() - age).timestamp())))
    pull_casts()
    pull_interactions()
    wait = HubCast.objects.get().due_at - timezone.now()
    assert due - timedelta(minutes=1) < wait <= due + timedelta(minutes=1)


def test_an_old_cast_is_read_no_more(farcaster, agent):
    farcaster.hub.casts += [Cast(FID, ago(days=1)), Cast(FID, ago(days=32))]
    pull_casts()
    assert HubCast.objects.count() == 1
    Action.objects.update(at=timezone.now() - timedelta(days=32))
    pull_interactions()
    assert not HubCast.objects.exists()


def test_nothing_is_fetched_that_would_be_pruned(farcaster, agent, settings):
    pull_casts()
    since = timezone.now() - timedelta(days=settings.LEADERBOARD_FACT_DAYS)
    requested = int(farcaster.received[0].query["startTimestamp"])
    assert abs(FARCASTER_EPOCH + requested - since.timestamp()) < 60


def test_the_hub_overrides_a_partner(farcaster, agent):
    cast = Cast(FID, ago(minutes=10), text="buy now")
    reply = Cast(OTHER, ago(minutes=5), text="copied", parent=(FID, cast.hash))
    farcaster.hub.casts += [cast, reply]
    earlier = timezone.now() - timedelta(days=3)
    ActionFactory(
        agent=agent, at=earlier, kind=ActionKind.QUOTE, cast_hash=cast.hash, cast_key=cast_key(cast.hash), text_key=1
    )
    reported = {"cast_key": cast_key(cast.hash), "message_key": cast_key(reply.hash), "kind": InteractionKind.REPLY}
    InteractionFactory(agent=agent, at=earlier, actor_fid=OTHER, is_confirmed=False, **reported)
    pull_casts()
    pull_interactions()
    action, interaction = Action.objects.get(), Interaction.objects.get()
    assert (int(action.at.timestamp()), action.kind, action.text_key) == (cast.at, ActionKind.POST, text_key("buy now"))
    assert (int(interaction.at.timestamp()), interaction.text_key) == (reply.at, text_key("copied"))
    assert interaction.is_confirmed


def test_a_cast_is_found_whatever_a_partner_made_of_the_end_of_its_hash(farcaster, agent):
    """Check keys: facts use the hash's first eight bytes, the hub all of it."""
    cast = Cast(FID, ago(minutes=10))
    reply = Cast(OTHER, ago(minutes=5), parent=(FID, cast.hash))
    farcaster.hub.casts += [cast, reply]
    ActionFactory(agent=agent, cast_hash=cast.hash[:18] + "f" * 24, cast_key=cast_key(cast.hash))
    pull_casts()
    pull_interactions()
    assert Action.objects.get().cast_hash == cast.hash
    assert Interaction.objects.get().message_key == cast_key(reply.hash)


def test_two_likes_by_one_account_count_once(farcaster, agent):
    cast = Cast(FID, ago(hours=1))
    farcaster.hub.casts.append(cast)
    farcaster.hub.reactions += [Reaction(OTHER, ago(minutes=ago_), "Like", (FID, cast.hash)) for ago_ in (9, 5)]
    pull_casts()
    pull_interactions()
    assert Interaction.objects.count() == 1


def test_a_fid_that_became_another_agents_is_read_anew_for_that_one(farcaster, agent):
    farcaster.hub.casts += [Cast(FID, ago(hours=1)), Cast(FID + 1, ago(hours=1))]
    pull_casts()
    agent.fid = FID + 1
    agent.save()
    second = Agent.objects.create(agent_id="second", fid=FID)
    pull_casts()
    owners = set(Action.objects.values_list("agent_id", "cast_hash"))
    first, other = (cast.hash for cast in farcaster.hub.casts)
    assert owners == {(agent.pk, first), (agent.pk, other), (second.pk, first)}


@pytest.mark.django_db(transaction=True)
def test_a_fid_that_moves_during_a_walk_leaves_no_cast_with_the_old_agent(farcaster, agent):
    farcaster.hub.casts.append(Cast(FID, ago(hours=1)))

    def move(requested, body):
        Agent.objects.filter(pk=agent.pk).update(fid=None)
        # The stand-in's thread has its own connection.
        connection.close()
        return body

    farcaster.change = move
    pull_casts()
    assert not Action.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("pull", [pull_casts, pull_interactions])
def test_an_agent_that_is_deleted_during_a_walk_is_gone(farcaster, agent, pull):
    cast = Cast(FID, ago(hours=1))
    farcaster.hub.casts.append(cast)
    farcaster.hub.reactions.append(Reaction(OTHER, ago(minutes=30), "Like", (FID, cast.hash)))
    if pull is pull_interactions:
        pull_casts()

    def delete(requested, body):
        Action.objects.all().delete()
        Agent.objects.all().delete()
        # The stand-in's thread has its own connection.
        connection.close()
        return body

    farcaster.change = delete
    assert pull() == 1
    assert not any(model.objects.exists() for model in (Agent, Action, Interaction, HubCast, HubCursor))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("call", "model", "kept", "whole"), [("castsByFid", Action, 4, 5), ("reactionsByCast", Interaction, 4, 6)]
)
def test_a_run_after_a_killed_one_resumes(farcaster, agent, service_environment, call, model, kept, whole):
    farcaster.hub.longest_page = 2
    farcaster.hub.casts += [Cast(FID, ago(hours=hours)) for hours in range(1, 6)]
    target = FID, farcaster.hub.casts[0].hash
    farcaster.hub.reactions += [Reaction(fid, ago(minutes=fid), "Like", target) for fid in range(1, 7)]
    if model is Interaction:
        pull_casts()
    has_come, go_on = threading.Event(), threading.Event()

    def wait_at_the_third(requested, body):
        if requested.path.endswith(call) and requested.query.get("pageToken") == "4":
            has_come.set()
            go_on.wait(120)
        return body

    farcaster.change = wait_at_the_third
    hub = {"FARCASTER_HUB_URL": farcaster.url, "SOCIAL_API_KEY": "", "OVERRIDE_SOCIAL_TIMEOUT_SECONDS": "10"}
    process = subprocess.Popen([sys.executable, "-c", _PULL], cwd=BASE_DIR, env=service_environment | hub)
    try:
        assert has_come.wait(120)
    finally:
        process.kill()
        process.wait()
        go_on.set()
    assert model.objects.count() == kept
    # The killed run's lease lasts for a while.
    assert pull_casts() == 0
    make_due()
    # Its lock goes with its session.
    wait_for(lambda: tasks.pull_hub() or model.objects.count() == whole)


def test_agents_without_fid_are_not_fetched(farcaster):
    Agent.objects.create(agent_id="silent")
    assert pull_casts() == 0
    assert calls(farcaster) == []


# The task, and social scores.


def test_the_task_goes_on_until_nothing_is_due(farcaster, agent):
    cast = Cast(FID, ago(hours=1))
    farcaster.hub.casts.append(cast)
    farcaster.hub.reactions.append(Reaction(OTHER, ago(minutes=30), "Like", (FID, cast.hash)))
    tasks.pull_hub()
    assert Interaction.objects.count() == 1
    requested = len(farcaster.received)
    tasks.pull_hub()
    assert len(farcaster.received) == requested


def test_the_task_queries_nothing_where_no_hub_is_set(social, agent):
    tasks.pull_hub()
    assert not social.received


def test_interacting_accounts_are_fetched_where_configured(farcaster, agent, settings):
    settings.LEADERBOARD_ACTOR_SCORES = True
    cast = Cast(FID, ago(hours=1))
    farcaster.hub.casts.append(cast)
    farcaster.hub.reactions.append(Reaction(OTHER, ago(minutes=30), "Like", (FID, cast.hash)))
    tasks.pull_hub()
    assert SocialProfile.objects.get().fid == OTHER


def test_a_score_is_noted_when_it_changed(settings):
    Agent.objects.create(agent_id="droid", creator_fid=5)
    now = timezone.now()
    SocialProfileFactory(fid=5, score=0.5, fetched_at=now - timedelta(hours=2))
    SocialProfileFactory(fid=6, score=0.5, fetched_at=now)
    assert social_scores.record_social_scores() == 1
    SocialProfile.objects.update(fetched_at=now - timedelta(hours=1))
    assert social_scores.record_social_scores() == 0
    SocialProfile.objects.update(fetched_at=now, score=0.6)
    assert social_scores.record_social_scores() == 1
    assert list(SocialScore.objects.order_by("at").values_list("fid", "score")) == [(5, 0.5), (5, 0.6)]
    settings.LEADERBOARD_ACTOR_SCORES = True
    assert social_scores.record_social_scores() == 1


def test_the_profiles_of_creators_are_wanted():
    Agent.objects.create(agent_id="droid", creator_fid=5)
    Agent.objects.create(agent_id="orphan")
    social_scores.record_social_scores()
    assert SocialProfile.objects.get().fid == 5


@pytest.mark.django_db(transaction=True)
def test_it_writes_nothing_while_a_partner_does(farcaster, agent):
    """Check the lock order: a process that reports the same facts in another one would deadlock with it."""
    farcaster.hub.casts.append(Cast(FID, ago(minutes=5)))

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            lock_fact_writes()
            pulled = pool.submit(own_connection(pull_casts))
            wait_for(blocked_sessions)
        assert pulled.result() == 1
    assert Action.objects.count() == 1
