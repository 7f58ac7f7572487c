"""Benchmark for the ranking on worlds by authors who had read the guides, but not the ranking's code.

    python -m benchmarks.leaderboard.blind_worlds [--seed 1] [--agents 1000] [--worlds NAME ...] [--intervals 24h ...]

For each world, interval and stealth: places that planted agents gain over those that their organic part gives, places
that honest agents lose against the ranking without discounts, and how much of their composite framed agents lose. At
stealth 0.5 in each world also the first places' price: bought accounts with a good score for an agent without a
public. A world is a week; the 24-hour interval is its last day, and the 30-day one has the week's facts,
spread.

A new world is a package beside the others, with `build_world(*, seed, stealth, agents)`, which `--worlds` names. Exits
with code 1 beyond a limit.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from multiprocessing import Pool
from typing import Any, NamedTuple

import numpy as np

from benchmarks import results
from benchmarks.leaderboard.worlds.cost_curve import Bought, Price, measure_prices
from benchmarks.leaderboard.worlds.gains import FIRST, HARMED, WorldOutcome, measure_world
from benchmarks.tables import Limits, print_table
from leaderboard.ranking.scoring import VERSION

# Thresholds may be fixed on the first one only.
WORLDS = ("harbour", "meadow", "bazaar", "orchard")
STEALTHS = (0.3, 0.5, 0.7)
INTERVALS = ("24h", "7d", "30d")
_PRICED_STEALTH = 0.5
# Ordinary good accounts, and the best ones, which interact every day.
_BOUGHT = (Bought(1, 0.7), Bought(2, 0.7), Bought(7, 0.9))


class _Task(NamedTuple):
    world: str
    interval: str
    stealth: float
    seed: int
    agents: int


class _Measured(NamedTuple):
    task: _Task
    outcome: WorldOutcome
    prices: dict[Bought, list[Price]]


def main() -> int:
    """Print and keep all figures; return 1 where one is beyond its limit."""
    parser = argparse.ArgumentParser(description="Measure what attacks gain and what they cost.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--worlds", nargs="+", default=WORLDS, metavar="NAME", help="packages of worlds")
    parser.add_argument("--intervals", nargs="+", default=INTERVALS, choices=INTERVALS)
    options = parser.parse_args()
    tasks = [
        _Task(world, interval, stealth, options.seed, options.agents)
        for world in options.worlds
        for interval in options.intervals
        for stealth in STEALTHS
    ]
    with Pool(2) as pool:
        measured = pool.map(_measure, tasks, chunksize=1)
    groups: dict[str, list[_Measured]] = {}
    for each in measured:
        groups.setdefault(f"{each.task.world}, {each.task.interval}", []).append(each)
    for name, group in groups.items():
        _report(name, group)
    # A run with other worlds or intervals is an experiment.
    if (tuple(options.worlds), tuple(options.intervals)) == (WORLDS, INTERVALS):
        results.keep(
            "blind_worlds",
            {
                "command": " ".join(["python -m benchmarks.leaderboard.blind_worlds", *sys.argv[1:]]),
                "version": VERSION,
                "worlds": [each.task._asdict() | asdict(each.outcome) | _prices(each.prices) for each in measured],
            },
        )
    return 0 if _check(groups) else 1


def _measure(task: _Task) -> _Measured:
    world = import_module(f"benchmarks.leaderboard.worlds.{task.world}").build_world(
        seed=task.seed, stealth=task.stealth, agents=task.agents
    )
    world = world.of_interval(task.interval)
    priced = _BOUGHT if task.stealth == _PRICED_STEALTH else ()
    return _Measured(task, measure_world(world), {bought: measure_prices(world, bought) for bought in priced})


def _report(world: str, measured: Sequence[_Measured]) -> None:
    outcomes = [each.outcome for each in measured]
    head = (world, *(f"stealth {each.task.stealth}" for each in measured))
    attacks = sorted({name for outcome in outcomes for name in outcome.gains})
    print_table(
        (f"{head[0]}: places gained, median (most), into the first {FIRST}", *head[1:]),
        [(name, *(_gained(outcome, name) for outcome in outcomes)) for name in attacks],
    )
    kinds = sorted({name for outcome in outcomes for name in outcome.harmed})
    print_table(
        (f"honest agents that lose {HARMED:.0%} of the field", *head[1:]),
        [("all with a proven FID", *(f"{_share_harmed(outcome):.1%}" for outcome in outcomes))]
        + [("unproven FID", *(f"{harmed} of {agents}" for agents, harmed in (each.unproven for each in outcomes)))]
        + [(name, *(f"{_share_harmed(outcome, name):.1%}" for outcome in outcomes)) for name in kinds],
    )
    framings = sorted({name for outcome in outcomes for name in outcome.framed})
    print_table(
        ("largest loss of the composite by framing", *head[1:]),
        [(name, *(f"{outcome.framed[name]:.1%}" for outcome in outcomes)) for name in framings],
    )
    for bought, prices in (item for one in measured for item in one.prices.items()):
        head = ("bought accounts", "actions", "honest agent's", "of the week")
        rows = [
            (str(price.place), price.accounts, price.actions, price.honest_accounts, price.honest_week)
            for price in prices
        ]
        print_table((f"place, accounts with {_describe(bought)}", *head), rows)


def _gained(outcome: WorldOutcome, name: str) -> str:
    gains = outcome.gains[name]
    return f"{gains.median:+.1%} ({gains.most:+.1%}), {gains.into_first} of {gains.agents}"


def _share_harmed(outcome: WorldOutcome, *kinds: str) -> float:
    counts = np.array([outcome.harmed[kind] for kind in kinds or outcome.harmed]).sum(axis=0)
    return float(counts[1] / max(counts[0], 1))


def _describe(bought: Bought) -> str:
    return f"score {bought.score}, {bought.each} interactions each"


def _prices(prices: dict[Bought, list[Price]]) -> dict[str, Any]:
    return {"prices": {_describe(bought): [asdict(price) for price in found] for bought, found in prices.items()}}


def _check(groups: dict[str, list[_Measured]]) -> bool:
    limits = Limits()
    for world, own in groups.items():
        for name in sorted(own[0].outcome.gains):
            worst = max(each.outcome.gains[name].median for each in own)
            limits.at_most(f"{world}, {name}: median gain", 100 * worst, 5, "% of the field")
        into_first = max(sum(gains.into_first for gains in each.outcome.gains.values()) for each in own)
        limits.at_most(f"{world}: planted agents brought into the first {FIRST}", into_first, 0, "agents")
        limits.at_most(f"{world}: honest loss", 100 * max(_share_harmed(each.outcome) for each in own), 1, "%")
        for kind in sorted(own[0].outcome.harmed):
            worst = max(_share_harmed(each.outcome, kind) for each in own)
            limits.at_most(f"{world}, {kind}: honest loss", 100 * worst, 3, "%")
        framed = max(max(each.outcome.framed.values()) for each in own)
        limits.at_most(f"{world}: loss by framing", 100 * framed, 2, "%")
        for bought, price in (
            (bought, price) for each in own for bought, prices in each.prices.items() for price in prices
        ):
            name = f"{world}, {_describe(bought)}: price of place {price.place}"
            for compared, accounts in (("", price.honest_accounts), (", by the week's accounts", price.honest_week)):
                limits.at_least(name + compared, price.accounts / max(accounts, 1), 0.5)
    return limits.are_kept


if __name__ == "__main__":
    sys.exit(main())
