"""Kill-and-compare runs: a service under load, faults by a seed, and a comparison that shares no code with it.

    python -m benchmarks.chaos follower [--launches 5000] [--trades 1500] [--kills 50] [--reorgs 50] [--declared 0.5]
    python -m benchmarks.chaos deploy [--orders 1000] [--workers 8] [--partners 3] [--kills 60]
    python -m benchmarks.chaos event [--events 10000] [--receivers 20] [--processes 2] [--kills 45]
    python -m benchmarks.chaos upgrade [--ref REF] [--tokens 1000000] [--launches 280] [--trades 300] [--keep]
    python -m benchmarks.chaos faults [--minutes 30] [--every 60] [--lasting 10] [--keep]

All but the upgrade have `--seed`; all have the other fields of their plan. The result is printed as JSON, with the
first errors. Exits with code 1 where something was lost, came twice or was altered, or a limit is broken. The
processes' output is in `.local/RUN-chaos.log`.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.harness import Limits, keep, parse_quantities, render_json
from benchmarks.lists import dataset
from config.environment.variables import BASE_DIR
from tests.chaos import chain_driver, deploy_chaos, event_chaos, follower_chaos
from tests.chaos.harness import Result
from tests.faults import fault_run
from tests.upgrade import upgrade_run

# Standard output and standard error.
_OUTPUTS = (1, 2)
# Errors that are printed.
_PRINTED = 50
_DATABASE = "chaos"
_LONGEST_LOCK_SECONDS, _LONGEST_RECOVERY_SECONDS = 1.0, 5.0


def _follow(directory: Path, plan: chain_driver.Plan) -> Result:
    dataset.start_server()
    dataset.make_migrated(_DATABASE)
    with follower_chaos.run(directory, plan, dataset.environment(_DATABASE)) as (result, _):
        return result


def _check_locks(figures: dict[str, Any], limits: Limits) -> None:
    locks = figures["locks"]
    limits.at_most("lock", max(locks["longest"], locks["longest_wait"]), _LONGEST_LOCK_SECONDS, "s")


def _check_faults(figures: dict[str, Any], limits: Limits) -> None:
    limits.at_most("recovery", figures["worst recovery"], _LONGEST_RECOVERY_SECONDS, "s")
    limits.at_most("processes that grew", len(figures["grown"]), 0, "")


class _Chaos(NamedTuple):
    """A run, its plan by default, its limits beside errors, and the name of its stored results."""

    run: Callable[[Path, Any], Result]
    plan: Any
    check: Callable[[dict[str, Any], Limits], None] = lambda figures, limits: None
    results: str = "{}_chaos"


_RUNS = {
    "follower": _Chaos(_follow, chain_driver.Plan()),
    "deploy": _Chaos(deploy_chaos.run, deploy_chaos.Plan()),
    "event": _Chaos(event_chaos.run, event_chaos.Plan()),
    "upgrade": _Chaos(
        upgrade_run.run,
        upgrade_run.Plan(
            tokens=1_000_000, launches=280, trades=300, streams=10, receivers=6, interval=0.1, timeout=600.0
        ),
        _check_locks,
        "upgrade_{former}",
    ),
    "faults": _Chaos(
        fault_run.run,
        fault_run.FaultPlan(
            tokens=2_000,
            launches=300,
            trades=1,
            interval=1.0,
            chain_interval=1.0,
            timeout=600.0,
            minutes=30.0,
            every=60.0,
            lasting=10.0,
            ceiling_seconds=30.0,
        ),
        _check_faults,
        "load_and_faults",
    ),
}


def main() -> int:
    """Run it, and print and store the result; return 1 where something is wrong."""
    name = sys.argv.pop(1) if len(sys.argv) > 1 else ""
    if name not in _RUNS:
        print(__doc__)
        return 2
    chaos, load = _RUNS[name], os.getloadavg()[0]
    options = vars(parse_quantities(__doc__, **asdict(chaos.plan), keep=False))
    is_kept = options.pop("keep")
    with _redirect_output(BASE_DIR / ".local" / f"{name}-chaos.log") as log, tempfile.TemporaryDirectory() as directory:
        try:
            result = chaos.run(Path(directory), type(chaos.plan)(**options))
        finally:
            # Behind the output from migrations and servers.
            if (Path(directory) / "service.log").exists():
                with (Path(directory) / "service.log").open("rb") as output, log.open("ab") as whole:
                    shutil.copyfileobj(output, whole)
    row = {"faults": result.faults, **result.figures, "seconds": result.seconds, "wrong": len(result.wrong)}
    print(render_json(row))
    print("\n".join(result.wrong[:_PRINTED]) or "nothing was lost, came twice or was altered")
    if is_kept:
        keep(
            chaos.results.format(name, **result.figures),
            {"options": " ".join(sys.argv[1:]), "load at start": round(load, 1)} | row,
        )
    limits = Limits()
    chaos.check(result.figures, limits)
    return 1 if result.wrong or not limits.are_kept else 0


@contextmanager
def _redirect_output(log: Path) -> Iterator[Path]:
    """Redirect this process's and its children's output to a file: processes that lose their servers log a lot."""
    log.parent.mkdir(exist_ok=True)
    sys.stdout.flush()
    originals = [os.dup(number) for number in _OUTPUTS]
    with log.open("wb") as file:
        for number in _OUTPUTS:
            os.dup2(file.fileno(), number)
    try:
        yield log
    finally:
        for number, output in zip(_OUTPUTS, originals, strict=True):
            os.dup2(output, number)
            os.close(output)


if __name__ == "__main__":
    sys.exit(main())
