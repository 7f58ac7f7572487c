"""Trade benchmark: backfill, head and reads at size.

python -m benchmarks.trades [--swaps 2000000] [--pools 200000] [--only backfill]
"""

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.lists import dataset
from benchmarks.results import keep
from benchmarks.tables import Limits
from benchmarks.trades.trade_backfill import measure_backfill
from benchmarks.trades.trade_head import measure_head
from benchmarks.trades.trade_reads import measure_reads

SWAPS_A_BLOCK = 10


def main() -> int:
    """Print all figures; return 1 where one is beyond its limit."""
    options = _parse_arguments()
    dataset.start_server()
    limits = Limits()
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "backfill": lambda: measure_backfill(
            swaps=options.swaps,
            pools=options.pools,
            blocks=options.swaps // SWAPS_A_BLOCK,
            limits=limits,
        ),
        "head": lambda: measure_head(launches=options.launches, launches_a_block=4, swaps_a_launch=3, limits=limits),
        "reads": lambda: measure_reads(trades=options.trades, tokens=options.pools, sampled=400, limits=limits),
    }
    for name in options.only:
        load = os.getloadavg()[0]
        keep(f"trades_{name}", {"load_at_start": load, **parts[name]()})
    return 0 if limits.are_kept else 1


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure reading, keeping and serving of trades.")
    parser.add_argument("--swaps", type=int, default=2_000_000)
    parser.add_argument("--pools", type=int, default=200_000)
    parser.add_argument("--launches", type=int, default=300, help="at the head")
    parser.add_argument("--trades", type=int, default=20_000_000, help="that are read of, generated at the first run")
    parser.add_argument("--only", nargs="+", default=["backfill", "head", "reads"])
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
