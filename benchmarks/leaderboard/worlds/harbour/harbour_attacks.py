"""What buyers on Harbour buy: cheap farm volume, real accounts, rings and their own reports."""

import numpy as np

from benchmarks.leaderboard.worlds.world import Purpose, WorldBuilder
from leaderboard.facts.columns import Int64Array

from .harbour_plan import HarbourAgent
from .harbour_stage import (
    HOUR,
    REPLIES,
    HarbourCrowd,
    HarbourStage,
    HarbourTerms,
    human_times,
    join_crowds,
    register_crowd,
)
from .harbour_trades import add_paired_trades


def _spread_times(builder: WorldBuilder, crowd: HarbourCrowd, cast_at: Int64Array) -> Int64Array:
    """Return waking times anywhere between the cast and the end."""
    some = builder.rng.random(len(crowd)) * (builder.end - cast_at)
    return human_times(builder, crowd, cast_at + some.astype(np.int64))


def _campaign_times(builder: WorldBuilder, crowd: HarbourCrowd, cast_at: Int64Array) -> Int64Array:
    """Return times within hours after three paid tasks, which are published during the week."""
    tasks = builder.rng.choice(builder.rng.integers(builder.start, builder.end, 3), len(crowd))
    return human_times(builder, crowd, np.maximum(cast_at, tasks))


def _queue_times(builder: WorldBuilder, crowd: HarbourCrowd, cast_at: Int64Array) -> Int64Array:
    """Return times for a farm that works off its queue within the hour, day and night."""
    return cast_at + 40 + builder.rng.exponential(HOUR / 4, len(crowd)).astype(np.int64)


_RING = HarbourTerms(Purpose.BOUGHT, repeats=1.0, shares=(0.6, 0.15, 0.2, 0.05))
_TERMS = {
    "slow drip": HarbourTerms(Purpose.BOUGHT, _spread_times, repeats=1.3),
    "rented fans": HarbourTerms(Purpose.BOUGHT, _campaign_times, repeats=1.5),
    "covered farm": HarbourTerms(Purpose.BOUGHT, _queue_times, repeats=2.5, shares=(0.85, 0.1, 0.05, 0.0)),
    "mimicked delays": HarbourTerms(Purpose.BOUGHT, repeats=4.0),
    "paraphrase": HarbourTerms(Purpose.BOUGHT, _queue_times, shares=REPLIES, stock_share=0.0),
    "named accounts": HarbourTerms(Purpose.BOUGHT, _spread_times, repeats=1.6, is_confirmed=False),
    "invented accounts": HarbourTerms(Purpose.BOUGHT, repeats=1.5, is_confirmed=False),
}
ATTACKS = (*_TERMS, "sparse ring", "cross-owner ring", "volume wash", "own word")


def add_attacks(stage: HarbourStage, stealth: float) -> None:
    """Add what is bought, so that organic engagement makes the share `stealth` in planted agents' engagement.

    The engagement that washed volume buys is trades. An agent on its own word has no public.
    """
    sellers = _found_sellers(stage)
    rings: dict[int, list[tuple[HarbourAgent, int]]] = {}
    for agent in stage.agents:
        if not agent.attack:
            continue
        total = round(agent.organic * (1 - stealth) / stealth)
        main = round(total * 0.7) if agent.addition else total
        if agent.attack == "volume wash":
            pairs, wallets = round(agent.organic_trades * (1 - stealth) / stealth / 2), int(stage.rng.integers(3, 13))
            declared = int(stage.rng.random() < 0.4)
            add_paired_trades(stage, agent, pairs, wallets=wallets, purpose=Purpose.BOUGHT, declared=declared)
        elif agent.attack == "own word":
            _add_own_word(stage, agent, sellers["invented accounts"])
        elif agent.attack.endswith("ring"):
            # All agents in the ring across owners are in one list.
            rings.setdefault(agent.owner if agent.attack == "sparse ring" else -1, []).append((agent, main))
        else:
            stage.send(agent, sellers[agent.attack], main, _TERMS[agent.attack])
        if agent.addition:
            stage.send(agent, sellers[agent.addition], total - main, _TERMS[agent.addition])
    for orders in rings.values():
        _add_ring(stage, orders)


def _register_farm(builder: WorldBuilder, count: int) -> HarbourCrowd:
    """Add a cheap farm: registered by script in batches of hours, hardly any scores, and those low."""
    batches = builder.rng.uniform(9, 75, count // 120 + 1)
    days = builder.rng.choice(batches, count) + builder.rng.uniform(0, 0.2, count)
    return register_crowd(builder, days, (1.5, 7), unknown=0.6)


def _found_sellers(stage: HarbourStage) -> dict[str, HarbourCrowd]:
    """Return sellers' accounts. Their farms are big and serve all buyers."""
    builder, rng, count = stage.builder, stage.rng, len(stage.agents)
    covered = _register_farm(builder, count)
    # The cover costs nothing but programs' time: a third among honest agents get some. Nothing is bought for these.
    for agent in stage.agents:
        if not agent.attack and rng.random() < 0.3:
            stage.send(agent, covered, int(rng.geometric(1 / 20)), HarbourTerms(timing=_queue_times, repeats=1.2))
    days = rng.uniform(1, 1_600, 5 * count)
    return {
        "slow drip": register_crowd(builder, rng.uniform(400, 1_650, count), (6, 3.5), unknown=0.05),
        "rented fans": stage.public.pick(rng, count * 2),
        "covered farm": covered,
        "mimicked delays": _register_farm(builder, count // 2),
        "paraphrase": _register_farm(builder, count),
        "named accounts": stage.public.part(stage.public.scores > 0.6),
        "invented accounts": register_crowd(builder, days, (1, 1), unknown=1.0),
    }


def _add_ring(stage: HarbourStage, orders: list[tuple[HarbourAgent, int]]) -> None:
    """Add a ring's engagement: its accounts are the agents' and some owners'."""
    days = stage.rng.uniform(10, 500, 8 + sum(count for _, count in orders) // 10)
    house = register_crowd(stage.builder, days, (2, 3.5), unknown=0.4)
    ring = join_crowds(stage.droids.part(np.array([agent.index for agent, _ in orders])), house)
    stage.rings.append(ring)
    for agent, count in orders:
        stage.send(agent, ring.part(ring.fids != stage.droids.fids[agent.index]), count, _RING)


def _add_own_word(stage: HarbourStage, agent: HarbourAgent, invented: HarbourCrowd) -> None:
    """Add casts and successful runs in bulk, and in half the cases a few invented accounts."""
    rng, builder = stage.rng, stage.builder
    casts, runs = int(rng.integers(120, 500)), int(rng.integers(400, 3_000))
    at = rng.integers(builder.start + 1, builder.end, casts)
    builder.add_casts(agent.index, at, text=builder.new_keys(casts), purpose=Purpose.BOUGHT)
    builder.add_runs(agent.index, rng.integers(builder.start + 1, builder.end, runs), True, purpose=Purpose.BOUGHT)
    if rng.random() < 0.5:
        stage.send(agent, invented, int(rng.integers(4, 25)), _TERMS["invented accounts"])
