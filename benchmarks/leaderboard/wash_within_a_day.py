"""Benchmark of wash detection in a day's ranking: by the day only, and with the week's ranking as a prior.

    python -m benchmarks.leaderboard.wash_within_a_day [--first 1] [--last 50] [--agents 1000] [--processes 2]

The populations are those of `wash_detection`, over a week, of which the last day is judged twice.
"""

from collections.abc import Mapping
from dataclasses import replace
from multiprocessing import Pool
from typing import TypeVar

import numpy as np

from benchmarks import results
from benchmarks.leaderboard.agent_populations import Population, populate
from benchmarks.leaderboard.wash_detection import FIRST, FLAGGED, STEALTHS, Task, area_under_curve, arguments
from benchmarks.tables import print_table
from leaderboard.facts.columns import Actions, Int64Array, Interactions, IntervalFacts, PriorFinding, Runs, Trades
from leaderboard.ranking.scoring import MIN_INTERACTIONS, VERSION, AgentScores, best_first, score_agents

DAY = 86_400
WAYS = ("the day alone", "with the week")

Columns = TypeVar("Columns", Runs, Actions, Interactions, Trades)


def main() -> None:
    """Print and store the table."""
    options = arguments("Measure how well wash is found within a day.", first=1, last=50).parse_args()
    seeds = range(options.first, options.last + 1)
    tasks = [Task(seed, options.agents, stealth) for stealth in STEALTHS for seed in seeds]
    with Pool(options.processes) as pool:
        measured = pool.map(measure, tasks, chunksize=1)
    found = {
        f"{stealth}, {way}": _mean(
            [one[way] for task, one in zip(tasks, measured, strict=True) if task.stealth == stealth]
        )
        for stealth in STEALTHS
        for way in WAYS
    }
    print_table(("stealth", *next(iter(found.values()))), [(name, *one.values()) for name, one in found.items()])
    results.keep("wash_within_a_day", {"seeds": [options.first, options.last], "version": VERSION, "found": found})


def measure(task: Task) -> dict[str, dict[str, float]]:
    """Return the outcome of one population's last day, in each of the ways."""
    population = populate(seed=task.seed, agents=task.agents, stealth=task.stealth)
    week, day = score_agents(population.facts), last_day(population.facts)
    held = np.flatnonzero(week.wash_confidence).tolist()
    earlier = {
        agent: PriorFinding(float(week.wash_confidence[agent]), week.flags[agent], day.computed_at) for agent in held
    }
    ways = (score_agents(day), score_agents(replace(day, prior=earlier)))
    return {way: _figures(judgement, population) for way, judgement in zip(WAYS, ways, strict=True)}


def last_day(facts: IntervalFacts) -> IntervalFacts:
    """Return the same agents with what happened within the last day."""
    since = facts.computed_at - DAY

    def recent(rows: Columns, at: Int64Array) -> Columns:
        return type(rows)(**{name: values[at > since] for name, values in vars(rows).items()})

    return replace(
        facts,
        seconds=DAY,
        runs=recent(facts.runs, facts.runs.finished_at),
        actions=recent(facts.actions, facts.actions.at),
        interactions=recent(facts.interactions, facts.interactions.at),
        trades=recent(facts.trades, facts.trades.at),
    )


def _figures(judgement: AgentScores, population: Population) -> dict[str, float]:
    confidence, planted = judgement.wash_confidence, population.planted
    flagged, judged = confidence >= FLAGGED, judgement.tallies.interactions >= MIN_INTERACTIONS
    return {
        "AUC": area_under_curve(confidence, planted),
        "planted judged": float(judged[planted].mean()),
        "planted at 0.5": float(flagged[planted].mean()),
        "honest at 0.5": float(flagged[~planted].mean()),
        "in first 25": float(planted[best_first(judgement)[:FIRST]].sum()),
    }


def _mean(figures: list[dict[str, float]]) -> Mapping[str, float]:
    return {name: round(float(np.mean([one[name] for one in figures])), 4) for name in figures[0]}


if __name__ == "__main__":
    main()
