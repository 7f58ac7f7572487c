"""Places that planted agents gain, that honest agents lose, and framing's effect, in one world."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard.worlds.world import Purpose, World
from leaderboard.facts.columns import BoolArray, Float64Array, Int64Array, IntervalFacts
from leaderboard.ranking.discounts import DISCOUNTS
from leaderboard.ranking.scoring import best_first, score_agents

FIRST = 25
# Lost places, as a share of the field, from which an honest agent counts as harmed.
HARMED = 0.05


@dataclass(frozen=True)
class Gains:
    """Places that one attack's agents gain by purchases, as shares of the field."""

    agents: int
    median: float
    most: float
    # Agents that are among the first only with the purchases.
    into_first: int


@dataclass(frozen=True)
class WorldOutcome:
    """A world's ranking against its fair ranking, and against the ranking without discounts."""

    gains: dict[str, Gains]
    # Kind -> honest agents, and those harmed. Agents with an unproven FID are apart: their audience is not to count.
    harmed: dict[str, tuple[int, int]]
    unproven: tuple[int, int]
    # Framing -> largest share of the composite that an agent lost.
    framed: dict[str, float]


def measure_world(world: World, *, without: Collection[str] = ()) -> WorldOutcome:
    """Rank the agents without these flags' discounts, and compare.

    A planted agent's fair place is its place in the world without what was bought or made to harm others. Honest
    agents lose against the ranking without discounts and without what others made to harm them: without discounts,
    junk accounts and invented ones would lift the agents that they frame.
    """
    ranked, planted = _places(world.facts, without), world.is_planted
    fair = _places(world.without(Purpose.BOUGHT, Purpose.FRAMING), without)
    undiscounted = _places(world.without(Purpose.FRAMING), [discount.flag for discount in DISCOUNTS])
    kinds, attacks = np.array(world.kinds), np.array(world.attacks)
    gained = (fair - ranked) / len(ranked)
    is_harmed = (ranked - undiscounted) / len(ranked) > HARMED
    honest = ~planted & world.is_proven
    came_first = (ranked < FIRST) & (fair >= FIRST)
    return WorldOutcome(
        gains={name: _gains(gained, came_first, attacks == name) for name in np.unique(attacks[planted]).tolist()},
        harmed={kind: _harmed(is_harmed, honest & (kinds == kind)) for kind in np.unique(kinds[honest]).tolist()},
        unproven=_harmed(is_harmed, ~planted & ~world.is_proven),
        framed=_measure_framings(world, without),
    )


def _gains(gained: Float64Array, came_first: BoolArray, chosen: BoolArray) -> Gains:
    own = gained[chosen]
    return Gains(len(own), float(np.median(own)), float(own.max()), int(came_first[chosen].sum()))


def _harmed(is_harmed: BoolArray, chosen: BoolArray) -> tuple[int, int]:
    return int(chosen.sum()), int(is_harmed[chosen].sum())


def _measure_framings(world: World, without: Collection[str]) -> dict[str, float]:
    with_framing = score_agents(world.facts, without=without).composite
    alone = score_agents(world.without(Purpose.FRAMING), without=without).composite
    lost = np.where(alone > 0, 1 - with_framing / np.maximum(alone, 1e-9), 0)
    framings = np.array(world.framings)
    return {name: float(lost[framings == name].max()) for name in np.unique(framings[framings != ""]).tolist()}


def _places(facts: IntervalFacts, without: Collection[str]) -> Int64Array:
    """Return each agent's place, from 0."""
    order = best_first(score_agents(facts, without=without))
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return places
