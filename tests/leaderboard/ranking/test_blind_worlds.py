"""Worlds of `benchmarks.leaderboard.worlds`: what they must have, and the measures that read them."""

from dataclasses import fields
from importlib import import_module

import numpy as np
import pytest

from benchmarks.leaderboard.blind_worlds import WORLDS
from benchmarks.leaderboard.worlds.cost_curve import Bought, measure_prices
from benchmarks.leaderboard.worlds.gains import measure_world
from benchmarks.leaderboard.worlds.world import DAY, END, LIKE, RECAST, REPLY, WEEK, Purpose, WorldBuilder

KINDS = {
    "bot magnet",
    "club",
    "command bot",
    "family",
    "market maker",
    "onboarding",
    "ordinary",
    "price bot",
    "time zone",
    "two-sided treasury",
    "viral",
}
ATTACKS = {
    "covered farm",
    "cross-owner ring",
    "invented accounts",
    "mimicked delays",
    "named accounts",
    "own word",
    "paraphrase",
    "rented fans",
    "slow drip",
    "sparse ring",
    "volume wash",
}
FRAMINGS = {
    "adjoining ids",
    "back and forth",
    "burst",
    "clockwork",
    "devoted crowd",
    "forced ring",
    "low scores",
    "same text",
}
SHARED = ("harbour", "meadow", "bazaar")
TABLES = ("runs", "actions", "interactions")


def build(name, **options):
    return import_module(f"benchmarks.leaderboard.worlds.{name}").build_world(**{"seed": 7, "stealth": 0.5} | options)


@pytest.mark.parametrize("name", SHARED)
def test_the_first_worlds_have_the_same_kinds_attacks_and_framings(name):
    world = build(name, agents=400)
    assert set(world.kinds) == KINDS
    assert set(world.attacks) - {""} == ATTACKS
    assert set(world.framings) - {""} == FRAMINGS
    bought = world.rows["interactions"]["purpose"] == Purpose.BOUGHT
    assert set(np.array(world.attacks)[world.facts.interactions.agent[bought]]) <= ATTACKS


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_has_facts_of_all_agents_within_the_interval(name):
    world = build(name, agents=400)
    facts = world.facts
    assert len(facts.agents.ids) == len(world.kinds) == len(world.attacks) == len(world.framings) == 400
    assert any(world.attacks) and any(world.framings)
    assert not any(attack and framing for attack, framing in zip(world.attacks, world.framings, strict=True))
    for table, rows in world.rows.items():
        times = rows["finished_at" if table == "runs" else "at"]
        assert times.min() > END - WEEK and times.max() <= END
        assert len(rows["purpose"]) == len(times) and rows["agent"].dtype == np.int32
    interactions = world.rows["interactions"]
    marks = interactions["kind"] < REPLY
    triples = np.stack([interactions[key][marks].astype(np.int64) for key in ("cast", "actor", "kind")])
    assert np.unique(triples, axis=1).shape == triples.shape
    assert not interactions["text"][marks].any() and interactions["text"][~marks].all()
    assert (np.diff(facts.accounts.fids) > 0).all()
    bought = interactions["purpose"] == Purpose.BOUGHT
    assert (bought & ~facts.interactions.is_confirmed).any()


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_is_the_same_for_the_same_arguments_and_another_for_another_seed(name):
    one, same, other = (build(name, agents=60, seed=seed) for seed in (1, 1, 2))
    for table in ("agents", *TABLES, "accounts"):
        for column in fields(getattr(one.facts, table)):
            first, second = (getattr(getattr(world.facts, table), column.name) for world in (one, same))
            assert np.array_equal(first, second, equal_nan=first.dtype.kind == "f")
    assert not np.array_equal(one.facts.interactions.actor, other.facts.interactions.actor)


def small_world(*, bought: int, framing: int = 0):
    """Build 40 agents with an audience each of its number in accounts; the last one buys, the first one is framed."""
    builder = WorldBuilder(1)
    registered_at = np.arange(END - 900 * DAY, END - 100 * DAY, DAY)
    fans = builder.add_accounts(registered_at, np.full(len(registered_at), 0.8))
    for number in range(40):
        last = number == 39
        agent = builder.add_agent(
            "ordinary", attack="slow drip" if last else "", framing="" if number else "burst", reporter=number + 1
        )
        casts = builder.add_casts(agent, END - DAY - np.arange(20) * 7_000)
        audience = fans[: 5 * number + 5]
        builder.add_interactions(agent, casts[0], audience, END - 3_600 - 97 * np.arange(len(audience)), kind=LIKE)
        for purpose, count in ((Purpose.BOUGHT, bought * last), (Purpose.FRAMING, framing * (number == 0))):
            actors = fans[300 : 300 + count]
            builder.add_interactions(agent, casts[1], actors, END - 5 - np.arange(count), purpose=purpose)
        builder.add_runs(agent, END - DAY, True)
        builder.add_trades(agent, END - DAY, 1, is_own=False, is_buy=True, amount=1e18)
    return builder.build()


def test_a_like_of_a_cast_counts_once_and_rows_outside_the_interval_do_not_count():
    builder = WorldBuilder(1)
    agent, (fan,) = builder.add_agent("ordinary"), builder.add_accounts(np.array([END - 90 * DAY]), np.array([0.8]))
    old, cast = builder.add_casts(agent, np.array([END - WEEK, END - DAY]))
    builder.add_runs(agent, np.array([END - WEEK, END, END + 1]), True)
    builder.add_trades(agent, END, 1, is_own=False, is_buy=True, amount=1e18)
    kinds = np.array([LIKE, LIKE, RECAST, REPLY, REPLY])
    builder.add_interactions(agent, cast, fan, END - np.arange(5), kind=kinds)
    builder.add_interactions(agent, old, fan, np.array([END - WEEK, END + 1, END]))
    world = builder.build()
    assert len(world.facts.runs.agent) == len(world.facts.actions.agent) == 1
    assert sorted(zip(*(world.rows["interactions"][name] for name in ("kind", "at")), strict=True)) == [
        (LIKE, END - 1),
        (LIKE, END),
        (RECAST, END - 2),
        (REPLY, END - 4),
        (REPLY, END - 3),
    ]
    assert world.facts.interactions.actor.tolist() == 5 * [fan]


def test_facts_without_a_purpose_lack_its_rows_only():
    world = small_world(bought=40, framing=30)
    organic = world.without(Purpose.BOUGHT, Purpose.FRAMING)
    assert len(world.facts.interactions.agent) - len(organic.interactions.agent) == 70
    assert [(organic.interactions.agent == agent).sum() for agent in (0, 1, 39)] == [5, 10, 200]
    assert [(world.facts.interactions.agent == agent).sum() for agent in (0, 1, 39)] == [35, 10, 240]


def test_gains_are_places_over_those_that_the_organic_part_gives():
    outcome = measure_world(small_world(bought=400))
    assert outcome.gains["slow drip"].agents == 1
    assert outcome.gains["slow drip"].median == outcome.gains["slow drip"].most
    without = measure_world(small_world(bought=0))
    assert without.gains["slow drip"].median == 0
    assert set(outcome.framed) == {"burst"} and outcome.framed["burst"] == 0
    agents, harmed = outcome.harmed["ordinary"]
    assert agents == 39 and 0 <= harmed <= agents


def test_what_others_made_to_harm_an_agent_is_no_loss_by_the_discounts():
    outcome = measure_world(small_world(bought=0, framing=300))
    assert outcome.harmed["ordinary"] == (39, 0) and outcome.unproven == (0, 0)


def test_an_unproven_fid_counts_apart():
    outcome = measure_world(build("orchard"))
    assert "fidless reported" not in outcome.harmed
    agents, harmed = outcome.unproven
    assert agents > 0 and harmed > agents / 2


def test_the_price_of_a_place_rises_towards_the_first():
    prices = measure_prices(build("harbour", agents=150), Bought(2, 0.7))
    counts = [price.accounts for price in prices]
    assert [price.place for price in prices] == [100, 50, 25, 10]
    assert counts == sorted(counts) and counts[-1] > 0
    # The third one is its cover.
    assert all(price.actions == 3 * price.accounts for price in prices)


def test_better_and_busier_accounts_lower_the_price():
    world = build("meadow", agents=150)
    dear, cheap = (measure_prices(world, bought) for bought in (Bought(1, 0.7), Bought(7, 0.9)))
    assert all(second.accounts < first.accounts for first, second in zip(dear, cheap, strict=True))


def test_a_price_names_the_honest_agent_s_accounts_of_the_day_and_of_the_week():
    builder = WorldBuilder(1)
    fans = builder.add_accounts(END - 90 * DAY + np.arange(600), np.full(600, 0.8))
    for number in range(120):
        agent = builder.add_agent("ordinary", reporter=number + 1)
        builder.add_runs(agent, END - 60, True)
        builder.add_trades(agent, END - 60, 1, is_own=False, is_buy=True, amount=1e18)
        (cast,) = builder.add_casts(agent, END - 3 * DAY)
        audience = fans[: 4 * (number + 1)]
        # One account in four comes in the last day.
        builder.add_interactions(agent, cast, audience, np.where(np.arange(len(audience)) % 4, END - 2 * DAY, END - 9))
    day, week = (measure_prices(builder.build().of_interval(name), Bought(1, 0.7))[2] for name in ("24h", "7d"))
    assert (day.honest_accounts, day.honest_week) == (96, 384)
    assert (week.honest_accounts, week.honest_week) == (384, 384)
    # The accounts of the day count in full, the others half: a day costs about half of the week's price.
    assert week.accounts / 2 <= day.accounts < week.accounts
