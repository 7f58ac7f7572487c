"""The trending score's evaluation on generated trades with known demand.

    python -m benchmarks.trending [--first 1] [--last 20]

Each seed's tokens are written to an empty database as the follower writes trades, over 36 hours. The sort in
`/api/tokens/trending` is read beside three plain sorts over the same rows: volume, trades and distinct traders in 24
hours.

Exits with code 1 where a stored score differs from the formula in docs/market.md by more than 0.1 %, or the first ten
by the score have a larger share of manipulated tokens than a plain sort's.
"""

import argparse
import os
import sys
import time
from collections.abc import Mapping
from statistics import median
from typing import Any

import django
from django.db import connection

from benchmarks import results
from benchmarks.lists import dataset
from benchmarks.tables import Limits, print_table

_EMPTY, _DATABASE = "trending_empty", "trending"


def main() -> int:
    """Print all tables and store the result; return 1 where a limit is not kept."""
    options = _parse_arguments()
    dataset.start_server()
    dataset.make_empty(_EMPTY)
    dataset.manage(_EMPTY, "migrate", "--verbosity", "0")
    os.environ["DATABASE_URL"] = dataset.database_url(_DATABASE)
    django.setup()
    # Models can be imported from here on only.
    from benchmarks.trending import seed_runs

    outcomes: dict[str, list[Any]] = {}
    errors, moved, first, tenth = [], [], [], []
    for seed in range(options.first, options.last + 1):
        started = time.monotonic()
        connection.close()
        dataset.make_empty(_DATABASE, template=_EMPTY)
        run = seed_runs.run_seed(seed)
        for name, outcome in run.outcomes.items():
            outcomes.setdefault(name, []).append(outcome)
        errors.append(run.largest_error)
        moved.append(run.moved_by_recount)
        first.append(run.honest_scores[0])
        tenth.append(run.honest_scores[1])
        print(f"seed {seed}: {run.trades:,} trades in {time.monotonic() - started:.0f} s", flush=True)
    sorts = {name: seed_runs.summarize(several) for name, several in outcomes.items()}
    _print_sorts(sorts)
    _print_kinds(sorts)
    result = {
        "command": " ".join(["python -m benchmarks.trending", *sys.argv[1:]]),
        "seeds": [options.first, options.last],
        "largest difference from the formula": max(errors),
        "changes of the first 10 by a recount": moved,
        "median score of the first honest token": round(median(first), 1),
        "median score of the tenth honest token": round(median(tenth), 1),
        "sorts": sorts,
    }
    is_default = result["seeds"] == [1, 20]
    results.keep("trending" if is_default else f"trending_{options.first}_{options.last}", result)
    return 0 if _check(sorts, max(errors)) else 1


def _print_sorts(sorts: Mapping[str, Any]) -> None:
    measures = list(next(iter(sorts.values()))["correlation"])
    print_table(
        ("sort", "manipulated in first 10", "most demanded in first 10", *measures),
        [
            (
                name,
                f"{one['manipulated share of first 10']:.0%}",
                one["most demanded in first 10"],
                *(f"{one['correlation'][measure]:.2f}" for measure in measures),
            )
            for name, one in sorts.items()
        ],
    )
    kinds = list(next(iter(sorts.values()))["displaced"])
    print_table(
        ("honest kind: places too low, median", *sorts),
        [(kind, *(f"{one['displaced'][kind]:+g}" for one in sorts.values())) for kind in kinds],
    )


def _print_kinds(sorts: Mapping[str, Any]) -> None:
    for name, one in sorts.items():
        rows = [
            (
                kind,
                f"{figures['median rank']:g}",
                f"{figures['among first 10']:.0%}",
                f"{figures['entered']} of {figures['ladders']}",
                *(f"{figures[key]:,.2f}" if key in figures else "" for key in _COSTS),
            )
            for kind, figures in one["kinds"].items()
        ]
        print_table((f"by {name}", "median rank", "in first 10", "ladders that enter", *_COSTS), rows)


_COSTS = ("fees USD", "gas USD", "held USD", "at_risk USD")


def _check(sorts: Mapping[str, Any], error: float) -> bool:
    limits = Limits()
    limits.at_most("largest difference from the formula", error * 100, 0.1, "%")
    shares = {name: one["manipulated share of first 10"] * 100 for name, one in sorts.items()}
    score, *plain = shares.values()
    limits.at_most("manipulated tokens in the first ten by the score", score, min(plain), "%")
    return limits.are_kept


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Evaluate the trending score.")
    parser.add_argument("--first", type=int, default=1, help="seed")
    parser.add_argument("--last", type=int, default=20, help="seed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
