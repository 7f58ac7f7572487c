"""Benchmark of the backfill of a chain into the database, beside Ponder and beside PostgreSQL's COPY.

    python -m benchmarks.backfill.backfill [--launches 50000] [--blocks 200000] [--rounds 1] [--no-peer]

A fast node of our own (`backfill_node.py`) serves invented launches of generation v4. Ours is the command of the
operating guide, `manage.py backfill`, with its default settings, into an empty database of the bundled PostgreSQL that
has all migrations' indexes and triggers; from its start to its end, Django's start included. It is run against nodes
whose logs contain their block's timestamp, whose logs don't, and both with 30 ms for each request; then once more with
`--verify`. Ponder (`ponder_peer.py`) gets the same node, and once more the same node under 40 URLs, which frees it of
its own limit of requests a second. The floor is PostgreSQL's COPY of the rows that ours wrote into the same tables with
the same indexes and triggers.

After each run the launches in the database are compared with those of the chain: a missing or different one is a
failure at any speed. The results go to `benchmarks/results/backfill.json` as well. Exits with code 1 where a run is
wrong, where ours is under 3,000 launches/s from a node that sends timestamps, over 300 MB, or under 10 times Ponder.
"""

import argparse
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import requests

from benchmarks.backfill import ponder_peer
from benchmarks.backfill.copy_floor import Copied, time_copy
from benchmarks.lists import dataset
from benchmarks.process_costs import Costs, run_measured
from benchmarks.results import keep
from benchmarks.tables import Limits, print_table
from config.environment.variables import BASE_DIR
from development.servers import bundled

CHAIN_ID = 8453
EMPTY, OURS = "backfill_empty", "backfill_ours"
# What a backfill writes itself; triggers write search entries and markets.
WRITTEN = ("tokens_token", "tokens_launchfacts", "tokens_tokenevent", "accounts_socialprofile")
# A line for each launch, as `backfill_chain.Chain.digest` has them.
OUR_LAUNCHES_SQL = """
SELECT concat_ws('|', lower(contract_address), name, symbol, lower(admin), pool_address, tx_hash, block_number)
FROM tokens_token WHERE NOT unindexed
"""
# Our runs: name, the node's path, further words of the command.
RUNS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("ours", "stamped/0", ()),
    ("ours, logs without times", "plain/0", ()),
    ("ours, 30 ms a request", "stamped/30", ()),
    ("ours, without times, 30 ms", "plain/30", ()),
    ("ours, read twice (--verify)", "stamped/0", ("--verify",)),
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
    "Ponder = 1",
)
PEER_RUNS = (("Ponder", 1), ("Ponder, under 40 URLs", 40))


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
    # From the start of the program to its first request.
    start_seconds: float
    right: bool

    @property
    def rate(self) -> float:
        """Launches per second."""
        return self.launches / self.costs.seconds


def main() -> int:
    """Print all runs and their ratios; return 1 where one is beyond its limit, or wrong."""
    options = _parse_arguments()
    dataset.start_server()
    dataset.make_empty(EMPTY)
    dataset.manage(EMPTY, "migrate", "--verbosity", "0")
    if not options.no_peer:
        ponder_peer.install()
    with _node(options.launches, options.blocks) as node:
        runs = [_run_ours(node, options, *run) for _ in range(options.rounds) for run in RUNS]
        copied = time_copy(OURS, empty=EMPTY, tables=WRITTEN)
        if not options.no_peer:
            runs += [_run_peer(node, options, name, urls) for name, urls in PEER_RUNS]
    return _report(runs, copied, options)


def _run_ours(node: str, options: argparse.Namespace, name: str, path: str, words: tuple[str, ...]) -> Run:
    dataset.make_empty(OURS, template=EMPTY)
    _reset(node)
    command = [sys.executable, "manage.py", "backfill", "--chain", str(CHAIN_ID), "--from", "0"]
    costs = run_measured(
        [*command, "--to", str(options.blocks - 1), *words],
        directory=BASE_DIR,
        environment=dataset.environment(OURS) | {f"RPC_URLS_{CHAIN_ID}": f"{node}/{path}"},
        log=bundled.local_directory() / "log" / "backfill.log",
    )
    with dataset.connect(OURS) as connection:
        (changes,) = connection.execute("SELECT count(*) FROM tokens_tokenevent").fetchone() or (0,)
    return _finish(node, name, costs, digest=_digest(OURS, OUR_LAUNCHES_SQL), changes=changes)


def _run_peer(node: str, options: argparse.Namespace, name: str, urls: int) -> Run:
    _reset(node)
    costs = ponder_peer.run_ponder(
        [f"{node}/plain/0/{number}" for number in range(urls)], last_block=options.blocks - 1
    )
    return _finish(node, name, costs, digest=_digest(ponder_peer.DATABASE, ponder_peer.LAUNCHES_SQL), changes=None)


def _finish(node: str, name: str, costs: Costs, *, digest: str, changes: object) -> Run:
    """Return the run from the node's counts and the database.

    `changes` is the expected number of events after launch, None where they are not compared.
    """
    counts = _read_counts(node)
    run = Run(
        name=name,
        launches=counts["launches"],
        costs=costs,
        calls=counts["calls"],
        requests=counts["requests"],
        node_cpu_seconds=counts["cpu"],
        start_seconds=counts["first"],
        right=digest == counts["digest"] and changes in (None, counts["changes"]),
    )
    print(f"{name}: {run.rate:,.0f} launches/s in {costs.seconds:.1f} s{'' if run.right else ', WRONG'}", flush=True)
    return run


def _digest(database: str, statement: str) -> str:
    with dataset.connect(database) as connection:
        lines = sorted(str(line) for (line,) in connection.execute(statement).fetchall())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _report(runs: list[Run], copied: Copied, options: argparse.Namespace) -> int:
    best = {name: max((run for run in runs if run.name == name), key=lambda run: run.rate) for name in _names(runs)}
    ours, peer = best[RUNS[0][0]], best.get(PEER_RUNS[0][0])
    rows = [
        (
            name,
            f"{run.rate:,.0f}",
            f"{run.costs.seconds:.1f}",
            f"{run.start_seconds:.1f}",
            f"{run.costs.cpu_seconds:.1f}",
            f"{run.costs.database_cpu_seconds:.1f}",
            f"{run.costs.peak_mb:.0f}",
            f"{sum(run.calls.values()):,}",
            f"{run.requests:,}",
            f"{run.rate / peer.rate:.1f}" if peer else "",
        )
        for name, run in best.items()
    ]
    copy_rate = ours.launches / copied.seconds
    in_database = f"{copied.database_cpu_seconds:.1f}"
    to_peer = f"{copy_rate / peer.rate:.1f}" if peer else ""
    rows.append(
        (
            "COPY of the same rows",
            f"{copy_rate:,.0f}",
            f"{copied.seconds:.1f}",
            "",
            "",
            in_database,
            "",
            "",
            "",
            to_peer,
        )
    )
    print_table(HEAD, rows)
    result = {"launches": ours.launches, "blocks": options.blocks, "copy": asdict(copied)}
    keep("backfill", result | {"runs": [asdict(run) | {"rate": round(run.rate, 1)} for run in runs]})
    limits = Limits()
    limits.at_least("launches/s, ours", ours.rate, 3_000, "launches/s")
    limits.at_most("peak memory, ours", max(best[name].costs.peak_mb for name, _, _ in RUNS), 300, "MB")
    limits.at_most("wrong runs", sum(not run.right for run in runs), 0, "runs")
    if peer:
        limits.at_least("ours to Ponder", ours.rate / peer.rate, 10)
    return 0 if limits.are_kept else 1


def _names(runs: list[Run]) -> list[str]:
    return list(dict.fromkeys(run.name for run in runs))


@contextmanager
def _node(launches: int, blocks: int) -> Iterator[str]:
    """Yield the URL of a node with so many launches, without the path that selects its responses."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.backfill.backfill_node",
        "--launches",
        str(launches),
        "--blocks",
        str(blocks),
    ]
    process = subprocess.Popen(command, cwd=BASE_DIR, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin and process.stdout
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.stdin.close()
        process.wait()


def _read_counts(node: str) -> dict[str, Any]:
    counts: dict[str, Any] = requests.get(f"{node}/", timeout=30).json()
    return counts


def _reset(node: str) -> None:
    requests.get(f"{node}/reset", timeout=30).raise_for_status()


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure how fast a chain's past is read.")
    parser.add_argument("--launches", type=int, default=50_000)
    parser.add_argument("--blocks", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=1, help="of ours; the best of each counts")
    parser.add_argument("--no-peer", action="store_true", help="leave Ponder out, which takes some ten minutes")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
