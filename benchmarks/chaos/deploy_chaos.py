"""Deployment chaos run: all processes are killed at random, and every request must become exactly one token.

    python -m benchmarks.chaos.deploy_chaos [--orders 1000] [--workers 8] [--partners 3] [--kills 60] [--seed 1]

Real processes by the Procfile's lines, with their own PostgreSQL, Valkey and node; one request in ten is
sent twice, and a relay loses 5 % of broadcasts and delays 5 % of all calls. In the end a check that shares no code
with the service compares the chain with the responses that clients got. Exits with code 1 where something is wrong.
The processes' output is in `.local/deploy-chaos.log`.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from benchmarks.harness import parse_quantities
from config.environment.variables import BASE_DIR
from tests.chaos.deploy_chaos import Plan, ground, run

Result = TypeVar("Result")

# Standard output and standard error.
_OUTPUTS = (1, 2)


def main() -> None:
    """Run it and print the outcome."""
    options = parse_quantities(
        __doc__, orders=1000, workers=8, partners=3, clients=12, kills=60, block_time=0.5, patience=600.0, seed=1
    )
    plan = Plan(
        orders=options.orders,
        workers=options.workers,
        partners=options.partners,
        kills=options.kills,
        seed=options.seed,
        clients=options.clients,
        timeout=options.patience,
    )
    with (
        redirect_output(BASE_DIR / ".local" / "deploy-chaos.log"),
        tempfile.TemporaryDirectory() as place,
        ground(Path(place), block_time=options.block_time) as prepared,
    ):
        outcome = run(prepared, plan)
    killed = ", ".join(f"{kind} {count}" for kind, count in outcome.kills.items())
    print(
        f"{plan.orders} orders of {plan.partners} partners, answered"
        f" {sum(map(len, outcome.answers.orders.values()))} times, became {outcome.launched} tokens by {outcome.sent}"
        f" transactions, {outcome.fillers} of them empty; killed: {killed}; {outcome.lost} broadcasts lost,"
        f" {outcome.late} requests held up: {outcome.seconds:.0f} s"
    )
    print("\n".join(outcome.wrong) or "every order became exactly one token")
    sys.exit(1 if outcome.wrong or outcome.launched != plan.orders else 0)


@contextmanager
def redirect_output(log: Path) -> Iterator[None]:
    """Redirect this process's and its children's output to a file: processes that lose their servers log a lot."""
    log.parent.mkdir(exist_ok=True)
    sys.stdout.flush()
    kept = [os.dup(number) for number in _OUTPUTS]
    with log.open("wb") as file:
        for number in _OUTPUTS:
            os.dup2(file.fileno(), number)
    try:
        yield
    finally:
        for number, own in zip(_OUTPUTS, kept, strict=True):
            os.dup2(own, number)
            os.close(own)


def run_logged(name: str, run: Callable[[Path], Result]) -> Result:
    """Run a whole service in a new directory, and return the result; the output is in `.local/NAME.log`."""
    log = BASE_DIR / ".local" / f"{name}.log"
    with redirect_output(log), tempfile.TemporaryDirectory() as place:
        try:
            return run(Path(place))
        finally:
            # Behind the output from migrations and servers.
            with (Path(place) / "service.log").open("rb") as output, log.open("ab") as whole:
                shutil.copyfileobj(output, whole)


if __name__ == "__main__":
    main()
