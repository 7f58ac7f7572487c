"""Benchmark for what a discount learned from the truth could reach, beside which the score's gains stand.

    python -m benchmarks.leaderboard.learned_discount [--agents 1000]

A gradient-boosted classifier learns from worlds whose bought interactions are marked, with all that could be seen of
them: also times, kinds, texts and which accounts share agents. Accounts are discounted by its probability. Strengths
are compared, and the strongest that keeps the honest loss limits is reported. It learns from other seeds of the same
world, and from the two other worlds. Nothing keeps such a discount from being turned against honest agents.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import Pool
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks import results
from benchmarks.leaderboard.blind_worlds import STEALTHS, WORLDS
from benchmarks.leaderboard.worlds.gains import FIRST, HARMED
from benchmarks.leaderboard.worlds.world import LIKE, QUOTE, Purpose, World
from benchmarks.tables import print_table
from leaderboard.facts.audiences import Audience, build_audience
from leaderboard.facts.columns import Float64Array, Int64Array, IntervalFacts
from leaderboard.ranking.audience_weight import weigh_audience
from leaderboard.ranking.discounts import DISCOUNTS
from leaderboard.ranking.score_components import measure_components
from leaderboard.ranking.scoring import composite_score
from leaderboard.ranking.tallies import tally_facts

_MEASURED_SEED, _LEARNED_SEEDS = 1, (2, 3, 4)
# Powers of the share that is not discounted.
_STRENGTHS = (1, 3, 10, 30)
_MOST_LOSS, _MOST_LOSS_OF_A_KIND = 0.01, 0.03
# Other accounts count as alike that interact with so many common agents.
_AGENTS_IN_COMMON = 3


class _Task(NamedTuple):
    world: str
    stealth: float
    seed: int
    agents: int


@dataclass(frozen=True)
class _Sample:
    """A world, its audiences, and for each pair of agent and account what can be seen, and whether it was bought."""

    world: World
    audience: Audience
    seen: npt.NDArray[np.float64]
    is_bought: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Reached:
    """A learned discount's outcome: median places gained as shares of the field, and honest agents' losses."""

    strength: int
    gains: dict[str, float]
    into_first: int
    loss: float
    worst_loss: float

    @property
    def is_kept(self) -> bool:
        return self.loss <= _MOST_LOSS and self.worst_loss <= _MOST_LOSS_OF_A_KIND


def main() -> int:
    """Print and keep the figures; they have no limit, since they are one."""
    parser = argparse.ArgumentParser(description="Measure what a learned discount could reach.")
    parser.add_argument("--agents", type=int, default=1000)
    options = parser.parse_args()
    found = []
    for stealth in STEALTHS:
        seeds = (_MEASURED_SEED, *_LEARNED_SEEDS)
        tasks = [_Task(world, stealth, seed, options.agents) for world in WORLDS for seed in seeds]
        with Pool(2) as pool:
            samples = dict(zip(tasks, pool.map(_sample, tasks, chunksize=1), strict=True))
        for world in WORLDS:
            measured = samples[_Task(world, stealth, _MEASURED_SEED, options.agents)]
            for source in ("itself", "others"):
                learned = [
                    sample
                    for task, sample in samples.items()
                    if task.seed in _LEARNED_SEEDS and (task.world == world) == (source == "itself")
                ]
                found.append((world, stealth, source, _reach(measured, learned)))
    _report(found)
    results.keep(
        "learned_discount",
        {
            "command": " ".join(["python -m benchmarks.leaderboard.learned_discount", *sys.argv[1:]]),
            "reached": [
                {"world": world, "stealth": stealth, "learned_from": source} | vars(reached)
                for world, stealth, source, reached in found
            ],
        },
    )
    return 0


def _sample(task: _Task) -> _Sample:
    module = import_module(f"benchmarks.leaderboard.worlds.{task.world}")
    world = module.build_world(seed=task.seed, stealth=task.stealth, agents=task.agents)
    audience = build_audience(world.facts)
    rows, pairs = _rows_of_pairs(world, audience)
    bought = np.bincount(pairs, world.rows["interactions"]["purpose"][rows] == Purpose.BOUGHT, len(audience.pair_agent))
    own = np.column_stack([*_seen_of_pairs(audience), *_seen_of_rows(world, rows, pairs, audience)])
    means = np.column_stack([audience.per_agent(column) for column in own.T]) / np.maximum(
        audience.per_agent(np.ones(len(own))), 1
    ).reshape(-1, 1)
    return _Sample(world, audience, np.hstack([own, means[audience.pair_agent]]), bought > 0)


def _rows_of_pairs(world: World, audience: Audience) -> tuple[Int64Array, Int64Array]:
    """Return the interactions that are in an audience, and each one's pair."""
    interactions, width = world.facts.interactions, len(audience.fids)
    rows = np.flatnonzero(interactions.actor != world.facts.agents.fids[interactions.agent])
    keys = audience.pair_agent.astype(np.int64) * width + audience.pair_actor
    wanted = interactions.agent[rows].astype(np.int64) * width
    wanted += np.searchsorted(audience.fids, interactions.actor[rows])
    return rows, np.searchsorted(keys, wanted)


def _seen_of_pairs(audience: Audience) -> list[Float64Array]:
    """Return what can be seen for each pair: account, its other agents, and how far they share their audiences."""
    agent, actor, count = audience.pair_agent, audience.pair_actor, len(audience.pair_agent)
    incidence = sparse.csr_matrix((np.ones(count), (actor, agent)), shape=(len(audience.fids), audience.agents))
    breadth = np.asarray(incidence.sum(1)).ravel()
    size = np.asarray(incidence.sum(0)).ravel()
    common = (incidence.T @ incidence).toarray()
    np.fill_diagonal(common, 0)
    expected = np.outer(size, size) / max(len(audience.fids), 1)
    share = common / np.maximum(np.minimum.outer(size, size), 1)
    alike = incidence @ incidence.T
    alike.setdiag(0)
    alike = (alike >= _AGENTS_IN_COMMON).astype(float) @ incidence
    overlaps = [_of_other_agents(audience, incidence, each) for each in (common / np.maximum(expected, 0.3), share)]
    return [
        np.nan_to_num(audience.scores, nan=-1)[actor],
        audience.fids[actor].astype(float),
        audience.pair_count.astype(float),
        audience.is_confirmed.astype(float),
        breadth[actor],
        np.bincount(actor, audience.pair_count, len(audience.fids))[actor],
        size[agent],
        np.asarray(alike[actor, agent]).ravel() / size[agent],
        *(column for overlap in overlaps for column in overlap),
    ]


def _of_other_agents(audience: Audience, incidence: sparse.csr_matrix, values: Float64Array) -> list[Float64Array]:
    """Return the mean and the largest value between each pair's agent and its account's other agents."""
    agents_of = np.split(incidence.indices, incidence.indptr[1:-1])
    mean, most = np.zeros((2, len(audience.pair_agent)))
    for pair, (agent, actor) in enumerate(zip(audience.pair_agent.tolist(), audience.pair_actor.tolist(), strict=True)):
        others = agents_of[actor]
        if len(others) > 1:
            found = values[agent, others]
            mean[pair], most[pair] = found.sum() / (len(others) - 1), found.max()
    return [mean, most]


def _seen_of_rows(world: World, rows: Int64Array, pairs: Int64Array, audience: Audience) -> list[Float64Array]:
    """Return means over each pair's interactions: kinds, delay since the cast, hour, and how often a text occurs."""
    interactions = {name: values[rows] for name, values in world.rows["interactions"].items()}
    casts = dict(zip(world.rows["actions"]["cast"].tolist(), world.rows["actions"]["at"].tolist(), strict=True))
    at = interactions["at"]
    cast_at = np.array([casts.get(cast, 0) for cast in interactions["cast"].tolist()])
    delay = np.where(cast_at > 0, np.log1p(np.maximum(at - cast_at, 0)), -1)
    _, text, repeats = np.unique(interactions["text"], return_inverse=True, return_counts=True)
    kinds = [(interactions["kind"] == kind).astype(float) for kind in range(LIKE, QUOTE + 1)]
    repeated = np.where(interactions["text"] == 0, 0, repeats[text]).astype(float)
    number = np.bincount(pairs, minlength=len(audience.pair_agent))
    return [np.bincount(pairs, each, len(number)) / number for each in (*kinds, delay, at / 3_600 % 24, repeated)]


def _reach(measured: _Sample, learned: Sequence[_Sample]) -> Reached:
    """Return the outcome for the strongest discount that keeps the honest loss limits, or for the weakest one."""
    model = HistGradientBoostingClassifier(max_iter=400, learning_rate=0.06, random_state=1)
    model.fit(np.vstack([each.seen for each in learned]), np.concatenate([each.is_bought for each in learned]))
    organic = 1 - model.predict_proba(measured.seen)[:, 1]
    outcomes = [_measure(measured, organic**strength, strength) for strength in _STRENGTHS]
    return next((each for each in reversed(outcomes) if each.is_kept), outcomes[0])


def _measure(sample: _Sample, kept: Float64Array, strength: int) -> Reached:
    world, audience = sample.world, sample.audience
    facts = world.without(Purpose.BOUGHT, Purpose.FRAMING)
    weight = _undiscounted(world.facts, audience)
    ranked = _places(world.facts, audience.per_agent(weight * kept))
    before = _places(world.facts, audience.per_agent(weight))
    fair_audience = build_audience(facts)
    width = len(audience.fids)
    keys = audience.pair_agent.astype(np.int64) * width + audience.pair_actor
    wanted = fair_audience.pair_agent.astype(np.int64) * width
    wanted += np.searchsorted(audience.fids, fair_audience.fids)[fair_audience.pair_actor]
    fair_kept = kept[np.searchsorted(keys, wanted)]
    fair = _places(facts, fair_audience.per_agent(_undiscounted(facts, fair_audience) * fair_kept))
    attacks, kinds, planted = np.array(world.attacks), np.array(world.kinds), world.is_planted
    is_harmed = (ranked - before) / len(ranked) > HARMED
    return Reached(
        strength=strength,
        gains={
            name: float(np.median((fair - ranked)[attacks == name]) / len(ranked))
            for name in np.unique(attacks[planted]).tolist()
        },
        into_first=int(((ranked < FIRST) & (fair >= FIRST) & planted).sum()),
        loss=float(is_harmed[~planted].mean()),
        worst_loss=max(float(is_harmed[~planted & (kinds == kind)].mean()) for kind in np.unique(kinds[~planted])),
    )


def _undiscounted(facts: IntervalFacts, audience: Audience) -> Float64Array:
    return weigh_audience(facts, audience, without=[discount.flag for discount in DISCOUNTS]).pair_weight


def _places(facts: IntervalFacts, counted: Float64Array) -> Int64Array:
    """Return each agent's place, from 0, if its audience counts so much; ties by the lower index."""
    order = np.argsort(-composite_score(measure_components(facts, tally_facts(facts), counted)), kind="stable")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return places


def _report(found: Sequence[tuple[str, float, str, Reached]]) -> None:
    for source in ("itself", "others"):
        chosen = [(world, stealth, reached) for world, stealth, name, reached in found if name == source]
        attacks = sorted({name for _, _, reached in chosen for name in reached.gains})
        print_table(
            (f"learned from {source}: median gain", *(f"{world} {stealth}" for world, stealth, _ in chosen)),
            [(name, *(f"{reached.gains[name]:+.1%}" for _, _, reached in chosen)) for name in attacks]
            + [
                (f"into the first {FIRST}", *(reached.into_first for _, _, reached in chosen)),
                ("honest loss", *(f"{reached.loss:.1%}" for _, _, reached in chosen)),
                ("honest loss, worst kind", *(f"{reached.worst_loss:.1%}" for _, _, reached in chosen)),
                ("strength", *(reached.strength for _, _, reached in chosen)),
            ],
        )


if __name__ == "__main__":
    sys.exit(main())
