"""Benchmark for a chain's backfill into the database, beside PostgreSQL's COPY.

    python -m benchmarks.backfill.backfill [--launches 50000] [--blocks 200000] [--rounds 3]

Our own fast node (`backfill_node.py`) serves invented v4 launches. Ours is the command
`manage.py backfill`, with its default settings, into an empty database in the bundled PostgreSQL that
has all migrations' indexes and triggers; from its start to its end, Django's start included. The median round counts.
Ours is then run against nodes whose logs lack their block's timestamp, and with 30 ms for each request, and once more
with `--verify`. The floor is PostgreSQL's COPY, with our rows, into the same tables with the same indexes and triggers.

After each run the launches in the database are compared with the chain's: a missing or different one is a
failure at any speed. The results go to `benchmarks/results/backfill.json` as well. Exits with code 1 where a run is
wrong, or one is beyond a limit.
"""

import argparse
import hashlib
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import requests

from benchmarks.backfill.backfill_node import served_node
from benchmarks.backfill.copy_floor import Copied, time_copy
from benchmarks.harness import Limits, keep, parse_quantities, print_table
from benchmarks.lists import dataset
from benchmarks.process_costs import Costs, run_measured
from config.environment.variables import BASE_DIR
from development.servers import bundled

CHAIN_ID = 8453
EMPTY, OURS = "backfill_empty", "backfill_ours"
# The node has no swaps, and a chain with the provider's market data reads none.
_LAUNCHES_ONLY = {"MARKET_PROVIDER_CHAINS": str(CHAIN_ID)}
# What a backfill writes itself; triggers write search entries and markets.
WRITTEN = {
    "tokens_token": "id",
    "tokens_launchfacts": "token_id",
    "tokens_tokenevent": "id",
    "accounts_socialprofile": "fid",
}
# A line for each launch, as `backfill_chain.Chain.digest` has them.
OUR_LAUNCHES_SQL = """
SELECT concat_ws('|', lower(contract_address), name, symbol, lower(admin), pool_address, tx_hash, block_number)
FROM tokens_token WHERE NOT unindexed
"""
OURS_NAME, VERIFIED_NAME = "ours", "ours, read twice (--verify)"
# Runs after the rounds: name, node path, further command-line words.
RUNS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("ours, logs without times", "plain/0", ()),
    ("ours, 30 ms a request", "stamped/30", ()),
    ("ours, without times, 30 ms", "plain/30", ()),
    (VERIFIED_NAME, "stamped/0", ("--verify",)),
)
HEAD = (
    "",
    "launches/s",
    "s",
    "of it start, s",
    "own CPU, s",
    "PostgreSQL CPU, s",
    "peak, MB",
    "RPC calls",
    "HTTP requests",
    "COPY = 1",
)


@dataclass(frozen=True, kw_only=True)
class Run:
    """One backfill: its costs, its requests, and whether the database holds what the chain does."""

    name: str
    launches: int
    costs: Costs
    # As the node reports them.
    calls: dict[str, int]
    requests: int
    node_cpu_seconds: float
    # From the program's start to its first request.
    start_seconds: float
    right: bool

    @property
    def rate(self) -> float:
        """Launches per second."""
        return self.launches / self.costs.seconds


def main() -> int:
    """Print all runs and their ratios; return 1 where one is beyond its limit, or wrong."""
    options = parse_quantities(__doc__, launches=50_000, blocks=200_000, rounds=3)
    dataset.start_server()
    dataset.make_migrated(EMPTY)
    with served_chain(options.launches, options.blocks) as node:
        runs = [run_ours(node, options, OURS_NAME, "stamped/0", ()) for _ in range(options.rounds)]
        copied = time_copy(OURS, empty=EMPTY, tables=WRITTEN)
        runs += [run_ours(node, options, *run) for run in RUNS]
    return _report(runs, copied, options)


def run_ours(
    node: str,
    options: argparse.Namespace,
    name: str,
    path: str,
    words: tuple[str, ...],
    *,
    environment: Mapping[str, str] = MappingProxyType({}),
    statement: str = "",
) -> Run:
    """Run ours once, with these variables, after a statement on the empty database."""
    dataset.make_empty(OURS, template=EMPTY)
    if statement:
        with dataset.connect(OURS) as connection:
            connection.execute(statement.encode())
    _reset(node)
    command = [sys.executable, "manage.py", "backfill", "--chain", str(CHAIN_ID), "--from", "0"]
    costs = run_measured(
        [*command, "--to", str(options.blocks - 1), *words],
        directory=BASE_DIR,
        environment=dataset.environment(OURS)
        | _LAUNCHES_ONLY
        | {f"RPC_URLS_{CHAIN_ID}": f"{node}/{path}", **environment},
        log=bundled.local_directory() / "log" / "backfill.log",
    )
    with dataset.connect(OURS) as connection:
        (changes,) = connection.execute("SELECT count(*) FROM tokens_tokenevent").fetchone() or (0,)
    return _finish(node, name, costs, digest=_digest(OURS, OUR_LAUNCHES_SQL), changes=changes)


def _finish(node: str, name: str, costs: Costs, *, digest: str, changes: object) -> Run:
    """Return the run from the node's counts and the database; `changes` is the stored event count after launch."""
    counts: dict[str, Any] = requests.get(f"{node}/", timeout=30).json()
    run = Run(
        name=name,
        launches=counts["launches"],
        costs=costs,
        calls=counts["calls"],
        requests=counts["requests"],
        node_cpu_seconds=counts["cpu"],
        start_seconds=counts["first"],
        right=digest == counts["digest"] and changes == counts["changes"],
    )
    print(f"{name}: {run.rate:,.0f} launches/s in {costs.seconds:.1f} s{'' if run.right else ', WRONG'}", flush=True)
    return run


def _digest(database: str, statement: str) -> str:
    with dataset.connect(database) as connection:
        lines = sorted(str(line) for (line,) in connection.execute(statement).fetchall())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _report(runs: list[Run], copied: Copied, options: argparse.Namespace) -> int:
    """Print each name's median run, keep all, and check the limits."""
    median = {
        name: _median([run for run in runs if run.name == name]) for name in dict.fromkeys(run.name for run in runs)
    }
    ours, verified = median[OURS_NAME], median[VERIFIED_NAME]
    copy_rate = ours.launches / copied.seconds
    rows = [_row(run, copy_rate) for run in median.values()]
    floor = ("COPY of the same rows", f"{copy_rate:,.0f}", f"{copied.seconds:.1f}", "", "")
    rows.append((*floor, f"{copied.database_cpu_seconds:.1f}", "", "", "", "1"))
    print_table(HEAD, rows)
    result = {"launches": ours.launches, "blocks": options.blocks, "copy": asdict(copied)}
    keep("backfill", result | {"runs": [asdict(run) | {"rate": round(run.rate, 1)} for run in runs]})
    limits = Limits()
    limits.at_least("ours to COPY", ours.rate / copy_rate, 0.35)
    limits.at_most("peak memory", max(run.costs.peak_mb for run in runs), 250, "MB")
    limits.at_most("wrong runs", sum(not run.right for run in runs), 0, "runs")
    limits.at_most("--verify to the plain run", verified.costs.seconds / ours.costs.seconds, 3)
    return 0 if limits.are_kept else 1


def _row(run: Run, copy_rate: float) -> tuple[str, ...]:
    return (
        run.name,
        f"{run.rate:,.0f}",
        f"{run.costs.seconds:.1f}",
        f"{run.start_seconds:.1f}",
        f"{run.costs.cpu_seconds:.1f}",
        f"{run.costs.database_cpu_seconds:.1f}",
        f"{run.costs.peak_mb:.0f}",
        f"{sum(run.calls.values()):,}",
        f"{run.requests:,}",
        f"{run.rate / copy_rate:.2f}",
    )


def _median(runs: list[Run]) -> Run:
    """Return the run with the median time; the faster one if two are in the middle."""
    return sorted(runs, key=lambda run: run.costs.seconds)[(len(runs) - 1) // 2]


def served_chain(launches: int, blocks: int) -> AbstractContextManager[str]:
    """Yield a node's URL with so many launches, without the path that selects its responses."""
    return served_node("benchmarks.backfill.backfill_node", launches=launches, blocks=blocks)


def _reset(node: str) -> None:
    requests.get(f"{node}/reset", timeout=30).raise_for_status()


if __name__ == "__main__":
    sys.exit(main())
