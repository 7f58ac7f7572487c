"""Benchmark for a ranking: computing it, reading its pages, and importing its facts.

    python -m benchmarks.leaderboard.leaderboard_speed [--agents 100000] [--facts 10000000] [--events 500000]
        [--rounds 3]

`leaderboard.ranking.snapshot_building.build_snapshot` in its own process, for thirty days and for one, beside a
plain SQL aggregate over the same facts: what agents did and got, counted, the least that any ranking needs; and
the same with the accounts that took each agent up, counted once each and weighted by their score. The row count
read is from PostgreSQL's statistics. Then pages of 25 at the beginning, in the middle and at the end, in the database
and through HTTP without the public response cache; and `manage.py import_agent_events` beside PostgreSQL's own COPY
with the rows that it wrote.

Exits with code 1 where thirty days take more than 60 s or 1.1 GB, a day reads more than a tenth more facts than it
needs (its runs and casts, and a week's interactions), or the usual page takes more than 5 ms in the database.
"""

import argparse
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import django

from benchmarks.backfill.copy_floor import time_copy
from benchmarks.harness import Limits, keep, parse_quantities, print_table
from benchmarks.leaderboard import leaderboard_dataset, leaderboard_pages, leaderboard_ranking
from benchmarks.leaderboard.agent_events import write_events
from benchmarks.lists import dataset
from benchmarks.process_costs import run_measured
from config.environment.variables import BASE_DIR
from development.servers import bundled

EMPTY, IMPORTED = "agents_empty", "agents_imported"
# Table -> the column that sorts its rows.
WRITTEN = {
    "leaderboard_agent": "id",
    "leaderboard_agentwallet": "id",
    "leaderboard_run": "key",
    "leaderboard_action": "key",
    "leaderboard_interaction": "key",
    "leaderboard_trade": "key",
}


def main() -> int:
    """Print all figures; return 1 where one is beyond its limit."""
    options = parse_quantities(__doc__, agents=100_000, facts=10_000_000, events=500_000, rounds=3)
    database = leaderboard_dataset.open_server(options.agents, options.facts)
    django.setup()
    limits = Limits()
    result: dict[str, Any] = {"ranking": _rank(database, options, limits)}
    result["pages"] = _read_pages(database, result["ranking"]["30d"]["ranked"], limits)
    result["import"] = _import(options)
    keep(
        "leaderboard_speed",
        {"command": " ".join(["python -m benchmarks.leaderboard.leaderboard_speed", *sys.argv[1:]]), **result},
    )
    return 0 if limits.are_kept else 1


def _rank(database: str, options: argparse.Namespace, limits: Limits) -> dict[str, Any]:
    month, day = (
        [leaderboard_ranking.rank(database, interval) for _ in range(options.rounds)] for interval in ("30d", "24h")
    )
    floors = {days: leaderboard_ranking.aggregate(database, days=days) for days in (30, 1)}
    rows, kept = [], {}
    for name, several, days in (("30d", month, 30), ("24h", day, 1)):
        one = sorted(several, key=lambda ranking: ranking.seconds)[len(several) // 2]
        floor = floors[days]
        kept[name] = one.recorded() | {"floor": floor.recorded()}
        rows.append((f"{name}: ours", *one.row(), f"{one.seconds / floor.plain:.1f}"))
        rows.append((f"{name}: counts alone (floor)", f"{floor.plain:.1f}", "", "", "", f"{floor.facts:,}", "", "1"))
        weighed = f"{floor.weighed / floor.plain:.1f}"
        rows.append((f"{name}: and accounts by score", f"{floor.weighed:.1f}", "", "", "", "", "", weighed))
    head = ("", "s", "with start, s", "own CPU, s", "PostgreSQL CPU, s", "facts read", "peak, MB", "floor = 1")
    print_table(head, rows)
    limits.at_most("30d, seconds", median(one.seconds for one in month), 60, "s")
    limits.at_most("30d, peak of the process", max(one.costs.peak_mb for one in month), 1100, "MB")
    limits.at_most("24h, facts read to facts needed", day[0].facts_read / floors[1].facts, 1.1)
    return kept


def _read_pages(database: str, ranked: int, limits: Limits) -> dict[str, Any]:
    offsets = (0, ranked // 2, ranked - 25)
    in_database = leaderboard_pages.in_database(database, offsets)
    over_http = leaderboard_pages.over_http(database, offsets)
    rows = [
        (
            f"after {offset:,}",
            f"{in_database[offset] * 1000:.2f}",
            *(f"{value * 1000:.2f}" for value in over_http[offset]),
        )
        for offset in offsets
    ]
    print_table(("page of 25, ms", "database", "HTTP, p50", "HTTP, p99"), rows)
    limits.at_most("page in the database, slowest of three", max(in_database.values()) * 1000, 5, "ms")
    return {
        str(offset): {
            "database ms": round(in_database[offset] * 1000, 3),
            "http p50 ms": round(over_http[offset][0] * 1000, 3),
        }
        for offset in offsets
    }


def _import(options: argparse.Namespace) -> dict[str, Any]:
    for database in (EMPTY, IMPORTED):
        dataset.make_empty(database)
    dataset.manage(EMPTY, "migrate", "--verbosity", "0")
    dataset.make_empty(IMPORTED, template=EMPTY)
    with TemporaryDirectory() as directory:
        path = Path(directory) / "events.ndjson"
        lines = write_events(path, leaderboard_dataset.invent(max(50, options.events // 250), options.events))
        costs = run_measured(
            [sys.executable, "manage.py", "import_agent_events", str(path), "--source", "benchmark"],
            directory=BASE_DIR,
            environment=dataset.environment(IMPORTED),
            log=bundled.local_directory() / "log" / "import_agent_events.log",
        )
    copied = time_copy(IMPORTED, empty=EMPTY, tables=WRITTEN)
    ours, floor = lines / costs.seconds, lines / copied.seconds
    rows = (
        ("import_agent_events", f"{ours:,.0f}", f"{costs.cpu_seconds:.1f}", f"{costs.database_cpu_seconds:.1f}",
         f"{costs.peak_mb:.0f}", f"{ours / floor:.2f}"),
        ("COPY of the same rows (floor)", f"{floor:,.0f}", "", f"{copied.database_cpu_seconds:.1f}", "", "1"),
    )  # fmt: skip
    print_table((f"{lines:,} events", "a second", "own CPU, s", "PostgreSQL CPU, s", "peak, MB", "floor = 1"), rows)
    return {"events": lines, "a second": round(ours), "copy": round(floor), "peak MB": round(costs.peak_mb)}


if __name__ == "__main__":
    sys.exit(main())
