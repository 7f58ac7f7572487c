"""Command that serves a simulated chain from a separate process and prints its URLs and row counts as JSON.

python -m tests.simulator --seed 1 --blocks 200000 --launches 0.25 --port 8590
"""

import argparse
import json
import signal
import threading

from tests.simulator import ALL, Faults, Limits, SimulatedChain, Traffic, serve


def main() -> None:
    """Build the chain, print one line of JSON and serve; with --every, mine a block at that interval in seconds."""
    options = _options()
    traffic = Traffic(launches=options.launches, events=options.events, noise=options.noise, legacy=options.legacy)
    chain = SimulatedChain(options.seed, traffic=traffic)
    chain.mine(options.blocks)
    faults = ALL if options.faults else Faults()
    limits = Limits(blocks=options.most_blocks, logs=options.most_logs, times=not options.without_times)
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    with serve(
        chain, seed=options.seed, faults=faults, limits=limits, port=options.port, websocket_port=options.websocket_port
    ) as node:
        truth = chain.truth()
        counts = {"head": chain.head.number, "tokens": len(truth.tokens), "events": len(truth.events)}
        print(json.dumps({"url": node.url, "websocket": node.websocket_url} | counts), flush=True)
        while not ended.wait(options.every or None):
            chain.mine()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--blocks", type=int, default=1000, help="blocks that are there at the start")
    parser.add_argument("--launches", type=float, default=0.3, help="launching transactions in a block, in the mean")
    parser.add_argument("--events", type=float, default=0.6, help="transactions of events after launch")
    parser.add_argument("--noise", type=float, default=0.4, help="transactions with nothing for us")
    parser.add_argument("--legacy", type=float, default=0.06, help="the part of launches that is of older generations")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--websocket-port", type=int, default=0)
    parser.add_argument("--every", type=float, default=0.0, help="seconds between two new blocks; 0: none")
    parser.add_argument("--most-blocks", type=int, help="the longest range of eth_getLogs")
    parser.add_argument("--most-logs", type=int, help="the most logs of one answer")
    parser.add_argument("--without-times", action="store_true", help="logs without blockTimestamp")
    parser.add_argument("--faults", action="store_true", help="everything that may go wrong does")
    return parser.parse_args()


if __name__ == "__main__":
    main()
