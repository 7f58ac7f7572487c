"""Event chaos run: the processes that publish and deliver are killed at random, and every event must arrive.

    python -m benchmarks.chaos.event_chaos [--events 10000] [--receivers 20] [--processes 2] [--kills 45] [--seed 1]

Real processes by the Procfile's `events` line, with their own PostgreSQL and Valkey. Writers change tokens and
deployments in overlapping transactions, and some roll back; five receivers misbehave. In the end a check
that shares no code with the service compares the commits with the event log and with the requests that receivers got.
Exits with code 1 where something is wrong. The processes' output is in `.local/event-chaos.log`.
"""

import os
import sys
import tempfile
from pathlib import Path

from benchmarks.chaos.deploy_chaos import redirect_output
from benchmarks.harness import parse_quantities
from config.environment.variables import BASE_DIR
from tests.chaos.event_chaos import Outcome, Plan, ground, run
from tests.chaos.event_receivers import MISBEHAVIOURS

# Errors that are printed.
_PRINTED = 50


def main() -> None:
    """Run it and print the outcome."""
    options = parse_quantities(__doc__, events=10_000, receivers=20, processes=2, kills=45, timeout=600.0, seed=1)
    plan = Plan(
        events=options.events,
        receivers=options.receivers,
        processes=options.processes,
        kills=options.kills,
        seed=options.seed,
        timeout=options.timeout,
    )
    with (
        redirect_output(BASE_DIR / ".local" / "event-chaos.log"),
        tempfile.TemporaryDirectory() as place,
        ground(Path(place)) as prepared,
    ):
        outcome = run(prepared, plan)
    _print_outcome(plan, outcome)
    sys.exit(1 if outcome.wrong or outcome.events < plan.events else 0)


def _print_outcome(plan: Plan, outcome: Outcome) -> None:
    killed = ", ".join(f"{kind} {count}" for kind, count in outcome.kills.items())
    print(
        f"{outcome.events} events of {outcome.commits} commits, {outcome.reorged} of them token.reorged;"
        f" {outcome.rollbacks} transactions rolled back, {outcome.unconfirmed} with an unconfirmed COMMIT\n"
        f"{outcome.requests} requests to {plan.receivers} receivers, of which {len(MISBEHAVIOURS)} misbehave; healthy"
        f" ones: {outcome.healthy_messages} messages, {outcome.healthy_requests - outcome.healthy_messages} repeated\n"
        f"killed: {killed}; {outcome.caught} publishers within their transaction; {outcome.ended} processes ended"
        f" by themselves\n"
        f"seconds from COMMIT to a healthy receiver: {_in_words(outcome.latency)} under kills,"
        f" {_in_words(outcome.calm_latency)} without; the last one {outcome.drain_seconds:.1f} s after the last commit"
        f" under kills\n"
        f"{outcome.seconds:.0f} s, load {', '.join(f'{load:.1f}' for load in os.getloadavg())}"
    )
    if len(outcome.wrong) > _PRINTED:
        print(f"{len(outcome.wrong)} errors; the first {_PRINTED}:")
    print("\n".join(outcome.wrong[:_PRINTED]) or "every healthy receiver has every event")


def _in_words(latency: tuple[float, float, float]) -> str:
    return "p50 {:.2f}, p99 {:.2f}, maximum {:.2f}".format(*latency)


if __name__ == "__main__":
    main()
