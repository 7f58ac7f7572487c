"""Trade benchmark: backfill, head and reads at size.

python -m benchmarks.trades [--swaps 2000000] [--pools 200000] [--only backfill]
"""

import os
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.harness import Limits, keep, parse_quantities
from benchmarks.lists import dataset
from benchmarks.trades.trade_backfill import measure_backfill
from benchmarks.trades.trade_head import measure_head
from benchmarks.trades.trade_reads import measure_reads

SWAPS_A_BLOCK = 10


def main() -> int:
    """Print all figures; return 1 where one is beyond its limit."""
    options = parse_quantities(
        __doc__, swaps=2_000_000, pools=200_000, launches=300, trades=20_000_000, only=["backfill", "head", "reads"]
    )
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


if __name__ == "__main__":
    sys.exit(main())
