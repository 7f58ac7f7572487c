"""All benchmarks that guard a limit, one after the other: `make benchmarks`.

    python -m benchmarks [--only NAME ...] [--small]

With `--small`, quantities show only that each benchmark starts and ends: limits are printed. Nothing is stored.
Output goes to `.local/benchmarks/NAME.txt`. Exits with code 1 where a limit is broken, or a benchmark fails.
"""

import os
import subprocess
import sys
import time
from typing import NamedTuple

from benchmarks.harness import parse_quantities, print_table
from config.environment.variables import BASE_DIR


class _Guard(NamedTuple):
    """A benchmark with the words of a guard run, and of a small one."""

    module: str
    words: str
    small: str


_GUARDS = {
    "decode": _Guard("decode", "", "--rounds 1 --launches 7"),
    "listing": _Guard("lists.listing", "", "--count 5000 --rounds 1 --seconds 1"),
    "depth": _Guard("lists.depth", "", "--small 1000 --large 21000 --rounds 5"),
    "search": _Guard("lists.search", "--rounds 1", "--count 1000 --rounds 1"),
    "backfill": _Guard("backfill.backfill", "--rounds 1", "--launches 100 --blocks 1000 --rounds 1"),
    "outbox": _Guard(
        "backfill.outbox_cost", "--launches 8000 --blocks 32000", "--launches 100 --blocks 1000 --rounds 1"
    ),
    "head": _Guard("head_latency", "--launches 100", "--launches 4"),
    "head-launchpads": _Guard("head_latency", "--launches 100 --a-block 0.5 --launchpads", "--launches 4 --launchpads"),
    "trade-backfill": _Guard("trades", "--only backfill --swaps 500000", "--only backfill --swaps 2000 --pools 1000"),
    "trade-head": _Guard("trades", "--only head --launches 100", "--only head --launches 4"),
    "trade-reads": _Guard("trades", "--only reads --trades 2000000", "--only reads --trades 20000 --pools 500"),
    "stream": _Guard("stream", "--seconds 30 --rounds 3", "--seconds 2 --rounds 1"),
    "webhooks": _Guard("webhook_shares", "", "--seconds 2"),
    "airdrops": _Guard("airdrop_proofs", "--proofs 1000", "--entries 100 --proofs 10"),
    "ledger": _Guard("creator_ledger", "--events 200000", "--events 30000 --requests 5"),
    "deploy": _Guard("deploy", "--orders 100 --steady 30", "--orders 5 --steady 3"),
    "leaderboard": _Guard(
        "leaderboard.leaderboard_speed", "--rounds 1", "--agents 500 --facts 20000 --events 5000 --rounds 1"
    ),
    "pages": _Guard("site_pages", "", "--rounds 1 --tokens 1000"),
    "starts": _Guard("starts", "", "--rounds 1"),
    "scaling": _Guard("scaling", "", "--only replica"),
    "completeness": _Guard("chaos.completeness", "", "--launches 300"),
    "chaos": _Guard(
        "chaos", "follower --launches 600 --trades 900", "follower --launches 20 --trades 20 --kills 2 --reorgs 2"
    ),
    "deploy-chaos": _Guard("chaos", "deploy", "deploy --orders 20 --workers 2 --kills 3"),
    "event-chaos": _Guard("chaos", "event --events 3000 --kills 20", "event --events 300 --kills 5"),
    "migrations": _Guard("migration_locks", "", "--help"),
    "upgrade": _Guard("chaos", "upgrade --tokens 100000", "upgrade --tokens 200 --launches 10 --trades 10 --pause 3"),
    "attacks": _Guard("attacks", "--start", "--start --seconds 1 --only long-lists"),
    "faults": _Guard(
        "chaos", "faults", "faults --minutes 1 --every 30 --lasting 3 --ceiling-seconds 5 --tokens 200 --launches 20"
    ),
}


def main() -> int:
    """Run the benchmarks; return 1 where a limit is broken, or one fails."""
    options = parse_quantities(__doc__, only=list(_GUARDS), small=False)
    directory = BASE_DIR / ".local" / "benchmarks"
    directory.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in options.only:
        guard = _GUARDS[name]
        words = (guard.small if options.small else guard.words).split()
        environment = os.environ | {"BENCHMARKS_GUARD_RUN": "small" if options.small else "whole"}
        started = time.monotonic()
        with (directory / f"{name}.txt").open("wb") as log:
            command = [sys.executable, "-m", f"benchmarks.{guard.module}", *words]
            code = subprocess.run(
                command, cwd=BASE_DIR, env=environment, stdout=log, stderr=subprocess.STDOUT, check=False
            ).returncode
        rows.append((name, f"{time.monotonic() - started:.0f}", "FAILED" if code else "passed"))
        print(f"{name}: {rows[-1][2]} after {rows[-1][1]} s", flush=True)
    print_table(("benchmark", "s", "limits"), rows)
    return 1 if any(row[2] == "FAILED" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
