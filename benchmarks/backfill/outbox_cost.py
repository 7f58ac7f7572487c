"""Outbox cost in a backfill: without its triggers, without historical events, and with all events.

    python -m benchmarks.backfill.outbox_cost [--launches 50000] [--blocks 200000] [--rounds 3]

The three take turns against the same node, as `benchmarks.backfill.backfill` runs ours. Each launch has two events:
historical blocks are final. CPU time in the command and in PostgreSQL counts, by the rounds' median: wall time
varies more than the limit. The results go to `benchmarks/results/outbox_cost.json`. Exits with code 1 beyond the limit.
"""

import statistics
import sys
from dataclasses import asdict

from benchmarks.backfill.backfill import EMPTY, OURS, Run, run_ours, served_chain
from benchmarks.harness import Limits, keep, parse_quantities, print_table
from benchmarks.lists import dataset

_NO_TRIGGERS = """
DROP TRIGGER events_of_new_tokens ON tokens_token;
DROP TRIGGER events_of_changed_tokens ON tokens_token;
DROP TRIGGER events_of_new_claims ON tokens_feeclaim;
DROP TRIGGER events_of_dropped_claims ON tokens_feeclaim;
"""
_WITHOUT, _HISTORY, _ALL = "without the outbox", "history left out (default)", "all events"
_VARIANTS: dict[str, tuple[dict[str, str], str]] = {
    _WITHOUT: ({}, _NO_TRIGGERS),
    _HISTORY: ({}, ""),
    _ALL: ({"EVENT_HISTORY_HOURS": "87600"}, ""),
}


def main() -> int:
    """Print the variants' costs; return 1 if one is beyond its limit, or wrong."""
    options = parse_quantities(__doc__, launches=50_000, blocks=200_000, rounds=3)
    dataset.start_server()
    dataset.make_migrated(EMPTY)
    runs: list[Run] = []
    events: dict[str, int] = {}
    with served_chain(options.launches, options.blocks) as node:
        for _ in range(options.rounds):
            for name, (environment, statement) in _VARIANTS.items():
                runs.append(
                    run_ours(node, options, name, "stamped/0", (), environment=environment, statement=statement)
                )
                events[name] = _count_events()
    cpu = {name: [_cpu(run) for run in runs if run.name == name] for name in _VARIANTS}
    medians = {name: statistics.median(seconds) for name, seconds in cpu.items()}
    head = ("", "events", "CPU s, ours and PostgreSQL's", "without the outbox = 1")
    print_table(
        head,
        [
            (name, f"{events[name]:,}", f"{seconds:.1f}", f"{seconds / medians[_WITHOUT]:.3f}")
            for name, seconds in medians.items()
        ],
    )
    keep("outbox_cost", {"launches": options.launches, "events": events, "runs": [asdict(run) for run in runs]})
    limits = Limits()
    limits.at_most("CPU with the outbox to without it", medians[_HISTORY] / medians[_WITHOUT], 1.05)
    limits.at_most("wrong runs", sum(not run.right for run in runs), 0, "runs")
    return 0 if limits.are_kept else 1


def _cpu(run: Run) -> float:
    return run.costs.cpu_seconds + run.costs.database_cpu_seconds


def _count_events() -> int:
    with dataset.connect(OURS) as connection:
        (count,) = connection.execute("SELECT count(*) FROM events_outboxevent").fetchone() or (0,)
    return int(str(count))


if __name__ == "__main__":
    sys.exit(main())
