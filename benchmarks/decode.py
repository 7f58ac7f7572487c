"""Launches decoded per second from JSON-RPC objects in memory, against eth_abi alone on the same bytes.

    python -m benchmarks.decode [--rounds N] [--launches N]

The whole of `decode_transaction` runs on the recorded v4 launches, repeated; "no address seen" is the same with the
cache of EIP-55 forms emptied before each launch, as if no two launches shared an address. The floor is what any decoder
built on eth_abi must spend: `eth_abi.decode` with the same types on the bytes of the same logs that our decoder reads,
without finding these logs, without taking their hex apart, and without turning values into anything.

All are timed in turns, and the best round of each counts. Ends with code 1 where whole decoding takes more than twice
the floor.
"""

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import eth_abi

from tests.recordings import V4_LAUNCHES, Mined, base, mined
from tokens.chains import abi, decoding
from tokens.chains.abi import Event
from tokens.chains.registry import ChainInfo

LIMIT = 2.0

# The events that tell of a v4 launch. Other logs are not decoded; of the token's transfers only the mint is.
TRANSFER = abi.load("token").event("Transfer")
ZERO_TOPIC = "0x" + "00" * 32
NAMES = (
    "TokenCreated",
    "TokenRewardAdded",
    "InitialFeePreferences",
    "PoolInitialized",
    "AllocationCreated",
    "AirdropCreated",
    "EthDevBuy",
    "FeeConfigSet",
)
EVENTS: dict[tuple[str, int], Event] = {
    (event.topic0, len(event.indexed.names) + 1): event
    for event in (TRANSFER, *(event for name in NAMES for event in abi.load("v4").events[name]))
}

# (types, bytes), as eth_abi takes them.
Work = tuple[tuple[str, ...], bytes]


def main() -> int:
    """Print both rates and their ratio; 1 where the ratio is beyond the limit."""
    options = _parse_arguments()
    chain = base()
    transactions = [mined(label) for label in V4_LAUNCHES]
    work = [part for transaction in transactions for part in read_work(transaction)]
    repeat = max(1, options.launches // len(transactions))

    def decode_whole() -> None:
        for transaction in transactions:
            decode_transaction(chain, transaction)

    def decode_unseen() -> None:
        for transaction in transactions:
            abi.checksum.cache_clear()
            decode_transaction(chain, transaction)

    def decode_floor() -> None:
        for types, data in work:
            eth_abi.decode(types, data, strict=False)

    whole, unseen, floor = time_in_turns(
        decode_whole, decode_unseen, decode_floor, rounds=options.rounds, repeat=repeat
    )
    launches = len(transactions) * repeat
    ratio = whole / floor
    decodings = len(work) / len(transactions)
    print(f"launches a round: {launches}, rounds: {options.rounds}, ABI decodings a launch: {decodings:.1f}")
    print(f"whole decoding:   {launches / whole:8.0f} launches/s")
    print(f"no address seen:  {launches / unseen:8.0f} launches/s, time ratio {unseen / floor:.2f}")
    print(f"eth_abi alone:    {launches / floor:8.0f} launches/s")
    verdict = "passed" if ratio <= LIMIT else "FAILED"
    print(f"time ratio:       {ratio:8.2f} (limit {LIMIT}): {verdict}")
    return 0 if ratio <= LIMIT else 1


def decode_transaction(chain: ChainInfo, transaction: Mined) -> Any:
    """The launches of one transaction."""
    return decoding.decode_transaction(
        chain, transaction=transaction.transaction, receipt=transaction.receipt, block=transaction.block
    ).launches


def read_work(transaction: Mined) -> list[Work]:
    """What eth_abi must decode of the transaction: the topics and the data of each log that a launch is read from."""
    work: list[Work] = []
    for log in transaction.logs:
        event = EVENTS.get((log["topics"][0], len(log["topics"])))
        if event is None or (event is TRANSFER and log["topics"][1] != ZERO_TOPIC):
            continue
        topics = b"".join(bytes.fromhex(topic[2:]) for topic in log["topics"][1:])
        parts = ((event.indexed.types, topics), (event.data.types, bytes.fromhex(log["data"][2:])))
        work += [(types, data) for types, data in parts if types]
    return work


def time_in_turns(*subjects: Callable[[], None], rounds: int, repeat: int) -> tuple[float, ...]:
    """The best time of each in seconds: `rounds` times, in turns, so that a slow moment of the machine hits all."""
    best = [float("inf")] * len(subjects)
    for _ in range(rounds):
        for place, subject in enumerate(subjects):
            started = time.perf_counter()
            for _ in range(repeat):
                subject()
            best[place] = min(best[place], time.perf_counter() - started)
    return tuple(best)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time the decoding of launches.")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--launches", type=int, default=700, help="per round")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
