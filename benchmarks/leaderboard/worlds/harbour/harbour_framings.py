"""What others do to Harbour's honest agents, so that these look bought: fast, cheap and in bulk."""

from dataclasses import dataclass, replace

import numpy as np

from benchmarks.leaderboard.worlds.world import Purpose, WorldBuilder
from leaderboard.facts.columns import Int64Array

from .harbour_plan import HarbourAgent
from .harbour_stage import HOUR, REPLIES, HarbourCrowd, HarbourStage, HarbourTerms, register_crowd
from .harbour_trades import add_paired_trades


def _burst_times(builder: WorldBuilder, crowd: HarbourCrowd, cast_at: Int64Array) -> Int64Array:
    return cast_at + builder.rng.integers(HOUR) + builder.rng.integers(0, 400, len(crowd))


def _constant_times(builder: WorldBuilder, crowd: HarbourCrowd, cast_at: Int64Array) -> Int64Array:
    """Return times by each program's constant delay, at most a minute."""
    return cast_at + crowd.fids % 57 + 3


@dataclass(frozen=True)
class _Crowding:
    """Framing by new accounts."""

    terms: HarbourTerms
    # Bounds for the interactions per organic one, and how many there are at least and at most.
    rates: tuple[float, float]
    least: int
    most: int = 2_000
    # Days over which the accounts were registered.
    days: float = 60.0
    scores: tuple[float, float] = (1.3, 8)
    unknown: float = 0.6


_FRAMING = Purpose.FRAMING
_BURST = HarbourTerms(_FRAMING, _burst_times, 1.0, is_one_cast=True)
_CROWDINGS = {
    "adjoining ids": _Crowding(HarbourTerms(_FRAMING, repeats=6), (0.1765, 0.1765), 3, days=0.002),
    "same text": _Crowding(replace(_BURST, shares=REPLIES, stock_share=1.0), (0.1, 1.0), 40, 100),
    "burst": _Crowding(_BURST, (0.3, 1.0), 60),
    "clockwork": _Crowding(HarbourTerms(_FRAMING, _constant_times, 12.0), (0.4, 1.2), 60, days=200),
    "low scores": _Crowding(HarbourTerms(_FRAMING, repeats=1.2), (0.4, 1.2), 50, 2_000, 300, (1.2, 18), unknown=0),
    "devoted crowd": _Crowding(HarbourTerms(_FRAMING, repeats=5.0), (0.4, 1.2), 80, days=150, scores=(2, 5)),
}
FRAMINGS = (*_CROWDINGS, "back and forth", "forced ring")


def add_framings(stage: HarbourStage) -> None:
    """Add what is done against the victims."""
    rng = stage.rng
    for agent in stage.agents:
        if agent.framing in _CROWDINGS:
            _add_crowding(stage, agent, _CROWDINGS[agent.framing])
        elif agent.framing == "back and forth":
            pairs = int(max(agent.organic_trades * rng.uniform(0.3, 1.0), 20))
            add_paired_trades(stage, agent, pairs, wallets=1, purpose=_FRAMING)
        elif agent.framing == "forced ring":
            count = int(max(agent.organic * rng.uniform(0.3, 0.8), 20))
            stage.send(agent, stage.rings[rng.integers(len(stage.rings))], count, HarbourTerms(_FRAMING, repeats=1.0))


def _add_crowding(stage: HarbourStage, agent: HarbourAgent, crowding: _Crowding) -> None:
    rng = stage.rng
    count = int(np.clip(round(agent.organic * rng.uniform(*crowding.rates)), crowding.least, crowding.most))
    accounts = max(int(np.ceil(count / crowding.terms.repeats)), 5)
    days = rng.uniform(8, 14) + rng.uniform(0, crowding.days, accounts)
    crowd = register_crowd(stage.builder, days, crowding.scores, unknown=crowding.unknown)
    # All accounts take part, and have one phrase.
    terms = replace(crowding.terms, repeats=count / accounts, stock=stage.builder.new_keys(1))
    stage.send(agent, crowd, count, terms)
