"""Benchmark of wash detection on generated populations with known wash traders.

    python -m benchmarks.leaderboard.wash_detection [--first 51] [--last 100] [--agents 1000] [--processes 2] [--quick]

Every seed's population at each stealth (the share of organic engagement of planted agents) goes through
`leaderboard.ranking.scoring.score_agents`; washConfidence and the composite are compared with what was planted.
Thresholds were fixed on seeds 1 to 50, and what counts are seeds 51 to 100. Then the same at stealth 0.5 with each
detector off. Beside it, single measures that would be counted first (`plain_measures.py`).

Exits with code 1 where the mean of AUC at stealth 0.5 is under 0.99, more than 2 % of the honest agents reach 0.5, or a
planted agent is among the first 25 of a ranking at a stealth of 0.7 or less.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import Pool
from statistics import mean

import numpy as np

from benchmarks import results
from benchmarks.leaderboard.agent_populations import Population, populate
from benchmarks.lists.plain_measures import measure_plainly
from benchmarks.tables import Limits, print_table
from leaderboard.facts.columns import BoolArray, Float64Array
from leaderboard.ranking.scoring import VERSION, score_agents

STEALTHS = (0.0, 0.3, 0.5, 0.7, 0.85)
DETECTORS = (
    "CONCENTRATED",
    "RECIPROCAL_RING",
    "BURST_TIMING",
    "LOW_SCORE_AUDIENCE",
    "DUPLICATE_TEXT",
    "SELF_TRADE",
)
FLAGGED, SURE = 0.5, 0.7
FIRST = 25


@dataclass(frozen=True)
class Task:
    """One population, and the detectors that are off."""

    seed: int
    agents: int
    stealth: float
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The outcome of one population; counts of agents, and by kind how many there are and how many were flagged."""

    task: Task
    auc: float
    # At each threshold: planted ones that reach it, honest ones that do.
    right: dict[float, int]
    wrong: dict[float, int]
    planted: int
    honest: int
    # Planted ones among the first by interactions only, and by the composite.
    raw: int
    ranked: int
    kinds: dict[str, tuple[int, int]]
    # AUC of each plain measure.
    plain: dict[str, float]


def main() -> int:
    """Print all tables; return 1 where a limit is not kept."""
    parser = arguments("Measure how well wash is found.", first=51, last=100)
    parser.add_argument("--quick", action="store_true", help="all detectors on, and no file of results")
    options = parser.parse_args()
    seeds = range(options.first, options.last + 1)
    tasks = [Task(seed, options.agents, stealth) for stealth in STEALTHS for seed in seeds]
    if not options.quick:
        tasks += [Task(seed, options.agents, 0.5, (name,)) for name in DETECTORS for seed in seeds]
    with Pool(options.processes) as pool:
        outcomes = pool.map(measure, tasks, chunksize=1)
    by_task: dict[tuple[float, tuple[str, ...]], list[Outcome]] = defaultdict(list)
    for one in outcomes:
        by_task[one.task.stealth, one.task.without].append(one)
    _report(by_task, options)
    return 0 if _check(by_task) else 1


def measure(task: Task) -> Outcome:
    """Judge one population."""
    population = populate(seed=task.seed, agents=task.agents, stealth=task.stealth)
    judgement = score_agents(population.facts, excluded_flags=task.without)
    confidence, planted = np.asarray(judgement.wash_confidence), population.planted
    reached = {threshold: confidence >= threshold for threshold in (FLAGGED, SURE)}
    ids = population.facts.agents.ids
    return Outcome(
        task,
        auc=area_under_curve(confidence, planted),
        right={threshold: int((found & planted).sum()) for threshold, found in reached.items()},
        wrong={threshold: int((found & ~planted).sum()) for threshold, found in reached.items()},
        planted=int(planted.sum()),
        honest=int((~planted).sum()),
        raw=_among_the_first(judgement.tallies.interactions, ids, planted),
        ranked=_among_the_first(judgement.composite, ids, planted),
        kinds=_by_kind(population, reached[FLAGGED]),
        plain={name: area_under_curve(values, planted) for name, values in measure_plainly(population.facts).items()},
    )


def area_under_curve(confidence: Float64Array, planted: BoolArray) -> float:
    """Return how often a planted agent has more confidence than an honest one, ties counting half (Mann-Whitney)."""
    # Not by scipy.stats, which takes a second to import.
    honest = np.sort(confidence[~planted])
    below, not_above = (np.searchsorted(honest, confidence[planted], side) for side in ("left", "right"))
    return float((below + not_above).mean() / (2 * honest.size))


def _among_the_first(values: Float64Array, ids: Float64Array, planted: BoolArray) -> int:
    """Count planted ones among the first by `values`; of equal ones the older comes first, as in a ranking."""
    return int(planted[np.lexsort((ids, -np.asarray(values)))[:FIRST]].sum())


def _by_kind(population: Population, flagged: BoolArray) -> dict[str, tuple[int, int]]:
    kinds = np.array(population.kinds)
    return {name: (int((kinds == name).sum()), int(flagged[kinds == name].sum())) for name in np.unique(kinds).tolist()}


def _report(by_task: dict[tuple[float, tuple[str, ...]], list[Outcome]], options: argparse.Namespace) -> None:
    stealths = {stealth: _summary(by_task[stealth, ()]) for stealth in STEALTHS}
    off = {name: _summary(by_task[0.5, (name,)]) for name in DETECTORS if by_task[0.5, (name,)]}
    head = ("", "AUC", "least", "precision / recall at 0.5", "false", "precision / recall at 0.7", "in first 25")
    print_table(head, [_row(str(stealth), summary) for stealth, summary in stealths.items()])
    if off:
        rows = [_row("all", stealths[0.5]), *(_row(f"without {name}", summary) for name, summary in off.items())]
        print_table(head, rows)
    kinds = _kinds(by_task)
    print_table(
        ("flagged by kind", *map(str, STEALTHS)),
        [(name, *(f"{shares[str(stealth)]:.1%}" for stealth in STEALTHS)) for name, shares in kinds.items()],
    )
    plain = _plain(by_task)
    print_table(
        ("AUC of single measures", *map(str, STEALTHS)),
        [(name, *(f"{areas[str(stealth)]:.3f}" for stealth in STEALTHS)) for name, areas in plain.items()],
    )
    seeds = [options.first, options.last]
    result = {"seeds": seeds, "agents": options.agents, "version": VERSION, "stealth": stealths}
    name = "wash_detection" if seeds == [51, 100] else f"wash_detection_{options.first}_{options.last}"
    if off:
        results.keep(
            name,
            {
                "command": " ".join(["python -m benchmarks.leaderboard.wash_detection", *sys.argv[1:]]),
                **result,
                "without": off,
                "kinds": kinds,
                "plain": plain,
            },
        )


def _summary(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return counts over all seeds, the AUC of each seed and their mean."""
    planted, honest = sum(one.planted for one in outcomes), sum(one.honest for one in outcomes)
    found: dict[str, float] = {
        "auc": mean(one.auc for one in outcomes),
        "auc least": min(one.auc for one in outcomes),
    }
    for threshold in (FLAGGED, SURE):
        right = sum(one.right[threshold] for one in outcomes)
        wrong = sum(one.wrong[threshold] for one in outcomes)
        found[f"precision {threshold}"] = right / max(right + wrong, 1)
        found[f"recall {threshold}"] = right / planted
        found[f"false {threshold}"] = wrong / honest
    found["first 25 raw"] = mean(one.raw for one in outcomes)
    found["first 25"] = mean(one.ranked for one in outcomes)
    found["first 25 most"] = max(one.ranked for one in outcomes)
    return {name: round(value, 4) for name, value in found.items()}


def _row(name: str, one: dict[str, float]) -> tuple[object, ...]:
    return (
        name,
        f"{one['auc']:.4f}",
        f"{one['auc least']:.4f}",
        f"{one['precision 0.5']:.3f} / {one['recall 0.5']:.3f}",
        f"{one['false 0.5']:.2%}",
        f"{one['precision 0.7']:.3f} / {one['recall 0.7']:.3f}",
        f"{one['first 25 raw']:.1f} -> {one['first 25']:.2f}",
    )


def _kinds(by_task: dict[tuple[float, tuple[str, ...]], list[Outcome]]) -> dict[str, dict[str, float]]:
    """Return the share that was flagged of each kind at each stealth."""
    shares: dict[str, dict[str, float]] = {}
    for name in by_task[0.5, ()][0].kinds:
        shares[name] = {}
        for stealth in STEALTHS:
            counts = np.array([one.kinds.get(name, (0, 0)) for one in by_task[stealth, ()]]).sum(axis=0)
            shares[name][str(stealth)] = round(float(counts[1] / max(counts[0], 1)), 4)
    return shares


def _plain(by_task: dict[tuple[float, tuple[str, ...]], list[Outcome]]) -> dict[str, dict[str, float]]:
    """Return the AUC of each plain measure at each stealth, the mean of the seeds."""
    return {
        name: {str(stealth): round(mean(one.plain[name] for one in by_task[stealth, ()]), 4) for stealth in STEALTHS}
        for name in by_task[0.5, ()][0].plain
    }


def _check(by_task: dict[tuple[float, tuple[str, ...]], list[Outcome]]) -> bool:
    limits = Limits()
    middle = by_task[0.5, ()]
    limits.at_least("AUC at stealth 0.5, mean of seeds", mean(one.auc for one in middle), 0.99, "")
    for stealth in STEALTHS:
        outcomes = by_task[stealth, ()]
        wrong = sum(one.wrong[FLAGGED] for one in outcomes) / sum(one.honest for one in outcomes)
        limits.at_most(f"false positives at stealth {stealth}", wrong * 100, 2, "%")
        if stealth <= 0.7:
            worst = max(one.ranked for one in outcomes)
            limits.at_most(f"planted among the first {FIRST} at stealth {stealth}, worst seed", worst, 0, "agents")
    return limits.are_kept


def arguments(description: str, *, first: int, last: int) -> argparse.ArgumentParser:
    """Return a parser of the arguments that say which populations are measured, and by how many processes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--first", type=int, default=first, help="seed")
    parser.add_argument("--last", type=int, default=last, help="seed")
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=2)
    return parser


if __name__ == "__main__":
    sys.exit(main())
