"""Events and launches decoded per second from JSON-RPC objects in memory, against eth_abi on the same bytes.

    python -m benchmarks.decode [--rounds N] [--launches N]

First the recorded TokenCreated of v4: the decoder made for its layout, which decodes the indexed arguments as well,
against eth_abi's own decoder of its data's types, made beforehand (the cached one that `eth_abi.decode` looks up each
time). Ours gives plain Python, with EIP-55 addresses and cleaned text; the values that eth_abi's gives are neither.

Then whole launches, by `decode_mined` from a transaction with its receipt and block, and by `decode_logs` from
the logs of a filter; "no address seen" is the same with the cache of EIP-55 forms emptied before each launch, as if no
two launches shared an address. The floor is what any decoder built on eth_abi must spend: `eth_abi.decode` with the
same types on the bytes of the same logs that our decoder reads, without finding these logs, without taking their hex
apart, and without turning values into anything.

All are timed in turns, in seconds of the processor, and the best round of each counts. Exits with code 1 where the made
decoder is less than ten times as fast as eth_abi's, or whole decoding of a transaction takes longer than the floor.
"""

import argparse
import sys
import time
from collections.abc import Callable

import eth_abi
from eth_abi.decoding import ContextFramesBytesIO
from eth_abi.registry import registry

from tests.nodes.recordings import V4_LAUNCHES, Mined, base, mined
from tokens.chains.abi import codec
from tokens.chains.abi.codec import AbiEvent, Log
from tokens.chains.addresses import checksum_bytes
from tokens.chains.evm.logs.log_decoding import decode_logs, launch_topics, own_topics
from tokens.chains.registry.chains import ChainInfo

# How many times as fast as eth_abi's decoder ours is at least, and how long whole decoding takes at most, floor = 1.
FASTER = 10.0
LIMIT = 1.0

CREATED = codec.load_abi("v4").event("TokenCreated")
# The events of a v4 launch. Other logs are not decoded.
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
EVENTS: dict[tuple[str, int], AbiEvent] = {
    (event.topic0, event.indexed + 1): event for name in NAMES for event in codec.load_abi("v4").events[name]
}

# (types, bytes), as eth_abi takes them.
Work = tuple[tuple[str, ...], bytes]


def main() -> int:
    """Print the rates and ratios; return 1 where a ratio is beyond its limit."""
    options = _parse_arguments()
    transactions = [mined(label) for label in V4_LAUNCHES]
    repeat = max(1, options.launches // len(transactions))
    print(f"launches a round: {len(transactions) * repeat}, rounds: {options.rounds}")
    passed = [
        compare_events(transactions, rounds=options.rounds, repeat=repeat),
        compare_launches(transactions, rounds=options.rounds, repeat=repeat),
    ]
    return 0 if all(passed) else 1


def compare_events(transactions: list[Mined], *, rounds: int, repeat: int) -> bool:
    """Return whether the decoder of TokenCreated is so many times as fast as eth_abi's of its data."""
    created = [transaction.logs[-1] for transaction in transactions]
    words = [bytes.fromhex("".join(topic[2:] for topic in log["topics"][1:]) + log["data"][2:]) for log in created]
    data = [bytes.fromhex(log["data"][2:]) for log in created]
    ours = CREATED.layout.decode
    theirs = registry.get_tuple_decoder(*raw_types(CREATED), strict=False)

    def decode_made() -> None:
        for log in words:
            ours(log)

    def decode_general() -> None:
        for log in data:
            theirs(ContextFramesBytesIO(log))

    made, general = time_in_turns(decode_made, decode_general, rounds=rounds, repeat=repeat)
    events = len(created) * repeat
    print(f"TokenCreated, made for its layout: {events / made:8.0f} events/s")
    print(f"TokenCreated, eth_abi's decoder:   {events / general:8.0f} events/s")
    return judge("times as fast", general / made, limit=FASTER, passed=general / made >= FASTER)


def compare_launches(transactions: list[Mined], *, rounds: int, repeat: int) -> bool:
    """Return whether whole decoding takes no longer than the floor."""
    chain = base()
    work = [part for transaction in transactions for part in read_work(transaction)]
    watched = [watched_logs(chain, transaction) for transaction in transactions]
    times = {transaction.receipt["blockHash"]: 1_735_689_600 for transaction in transactions}

    def decode_whole() -> None:
        for transaction in transactions:
            transaction.decode(chain)

    def decode_unseen() -> None:
        for transaction in transactions:
            checksum_bytes.cache_clear()
            transaction.decode(chain)

    def decode_watched() -> None:
        for logs in watched:
            decode_logs(chain, logs, times=times)

    def decode_watched_unseen() -> None:
        for logs in watched:
            checksum_bytes.cache_clear()
            decode_logs(chain, logs, times=times)

    def decode_floor() -> None:
        for types, data in work:
            eth_abi.decode(types, data, strict=False)

    subjects = {
        "whole transaction": decode_whole,
        "whole transaction, no address seen": decode_unseen,
        "logs alone": decode_watched,
        "logs alone, no address seen": decode_watched_unseen,
        "eth_abi alone (floor)": decode_floor,
    }
    seconds = dict(zip(subjects, time_in_turns(*subjects.values(), rounds=rounds, repeat=repeat), strict=True))
    floor = seconds["eth_abi alone (floor)"]
    for name, spent in seconds.items():
        print(f"{name + ':':36}{len(transactions) * repeat / spent:8.0f} launches/s, time ratio {spent / floor:.2f}")
    ratio = seconds["whole transaction"] / floor
    return judge("time ratio", ratio, limit=LIMIT, passed=ratio <= LIMIT)


def judge(what: str, ratio: float, *, limit: float, passed: bool) -> bool:
    """Print the verdict, and return it."""
    print(f"{what}: {ratio:.2f} (limit {limit}): {'passed' if passed else 'FAILED'}")
    return passed


def read_work(transaction: Mined) -> list[Work]:
    """Return the types and bytes of the topics and data of each log that a launch is read from."""
    work: list[Work] = []
    for log in transaction.logs:
        event = EVENTS.get((log["topics"][0], len(log["topics"])))
        if event is None:
            continue
        topics = b"".join(bytes.fromhex(topic[2:]) for topic in log["topics"][1:])
        work.append((event.layout.types[: event.indexed], topics))
        work.append((raw_types(event), bytes.fromhex(log["data"][2:])))
    return [(types, data) for types, data in work if types]


def raw_types(event: AbiEvent) -> tuple[str, ...]:
    """Return the types of an event's data with texts as bytes, so that invalid UTF-8 is no error."""
    return tuple(kind.replace("string", "bytes") for kind in event.layout.types[event.indexed :])


def watched_logs(chain: ChainInfo, transaction: Mined) -> list[Log]:
    """Return those of the transaction's logs that match the filters."""
    requested, own = launch_topics(chain), own_topics()
    return [
        log
        for log in transaction.logs
        if log["topics"][0] in own or (log["topics"][0] in requested and log["address"].lower() in chain.emitters)
    ]


def time_in_turns(*subjects: Callable[[], None], rounds: int, repeat: int) -> tuple[float, ...]:
    """Return the best time of each in seconds of the processor.

    In turns, so that a slow moment of the machine affects all.
    """
    best = [float("inf")] * len(subjects)
    for _ in range(rounds):
        for place, subject in enumerate(subjects):
            started = time.process_time()
            for _ in range(repeat):
                subject()
            best[place] = min(best[place], time.process_time() - started)
    return tuple(best)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time the decoding of launches.")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--launches", type=int, default=700, help="per round")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
