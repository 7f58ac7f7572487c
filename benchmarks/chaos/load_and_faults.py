"""Half the measured ceiling for half an hour, while each minute something ends or stalls.

    python -m benchmarks.chaos.load_and_faults [--minutes 30] [--every 60] [--keep]

All Procfile processes run behind nginx by docs/nginx.conf, two for web, with a PostgreSQL, a Valkey, a node and
their own providers. Exits with code 1 where a response is a failure but 503 with Retry-After, a kind of request
needs longer than five seconds after a fault, something is missing or was made twice, or a process's memory grew.
The processes' output is in `.local/faults.log`. Only root can make disks full.
"""

import json
import os
import sys
from dataclasses import asdict

from benchmarks.chaos.deploy_chaos import run_logged
from benchmarks.harness import Limits, keep, parse_quantities
from tests.faults.fault_run import FaultOutcome, FaultPlan, run

_LONGEST_RECOVERY_SECONDS = 5.0
# Errors that are printed.
_PRINTED = 50


def main() -> None:
    """Run it, print the outcome, and store it with `--keep`."""
    options = parse_quantities(
        __doc__, minutes=30.0, every=60.0, lasting=10.0, ceiling_seconds=30.0, tokens=2_000, keep=False
    )
    plan = FaultPlan(
        tokens=options.tokens,
        launches=max(20, round(10 * options.minutes)),
        trades=1,
        readers=1,
        interval=1.0,
        chain_interval=1.0,
        timeout=600.0,
        faults=max(1, round(options.minutes * 60 / options.every)),
        every=options.every,
        lasting=options.lasting,
        ceiling_seconds=options.ceiling_seconds,
    )
    load = os.getloadavg()[0]
    outcome = run_logged("faults", lambda place: run(place, plan))
    result = asdict(outcome) | {"wrong": len(outcome.wrong)}
    print(json.dumps(result | {"faults": None}, indent=2))
    print(_table(outcome))
    print("\n".join([*outcome.wrong[:_PRINTED], *outcome.grown]) or "nothing failed, was lost, was made twice, or grew")
    if options.keep:
        keep("load_and_faults", {"options": " ".join(sys.argv[1:]), "load at start": round(load, 1)} | result)
    limits = Limits()
    limits.at_most("recovery", outcome.worst_recovery(), _LONGEST_RECOVERY_SECONDS, "s")
    limits.at_most("processes that grew", len(outcome.grown), 0, "")
    sys.exit(1 if outcome.wrong or not limits.are_kept else 0)


def _table(outcome: FaultOutcome) -> str:
    lines = [
        "| fault | times | seconds | responses | 503 | failed | recovery s | of |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, row in outcome.faults.items():
        slowest = ", ".join(f"never: {kind}" for kind in row.unrecovered) or (row.slowest_kind if row.recovery else "")
        numbers = (row.times, row.seconds, row.requests, row.refused, row.failed, row.recovery)
        lines.append(f"| {name} | {' | '.join(map(str, numbers))} | {slowest} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
