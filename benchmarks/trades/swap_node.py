"""A fast node for the swap chain, in its own process; it serves as `backfill_node` does.

python -m benchmarks.trades.swap_node --swaps 2000000 --pools 200000 --blocks 200000
"""

import argparse
import time

from benchmarks.backfill.backfill_chain import BLOCK_SECONDS
from benchmarks.backfill.backfill_node import Node, serve
from benchmarks.trades.swap_chain import SwapAnswers, SwapChain


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve a generated chain of swaps.")
    for name in ("--swaps", "--pools", "--blocks"):
        parser.add_argument(name, type=int, required=True)
    options = parser.parse_args()
    first_time = int(time.time()) - options.blocks * BLOCK_SECONDS
    chain = SwapChain(options.swaps, options.pools, options.blocks, first_time)
    answers = SwapAnswers(chain)
    truth = {name: str(total) for name, total in chain.totals.items()}
    serve(Node(answers, truth=truth | {"swaps": options.swaps}))


if __name__ == "__main__":
    main()
