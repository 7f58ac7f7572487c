"""Events and launches decoded per second from JSON-RPC objects in memory, against eth_abi on the same bytes.

    python -m benchmarks.decode [--rounds N] [--launches N]

First v4's recorded TokenCreated: the decoder made for its layout, which decodes the indexed arguments as well,
against eth_abi's own decoder for its data types, made beforehand (the cached one that `eth_abi.decode` looks up each
time). Ours gives plain Python, with EIP-55 addresses and cleaned text; the values that eth_abi's gives are neither.

Then whole launches, by `decode_mined` from a transaction with its receipt and block, and by `decode_logs` from
a filter's logs; "no address seen" is the same with the EIP-55 cache emptied before each launch, as if no
two launches shared an address. The floor is what any decoder built on eth_abi must spend: `eth_abi.decode` with the
same types on the same log bytes that our decoder reads, without finding these logs, without taking their hex
apart, and without turning values into anything.

Then the same launches by a launchpad that declares TokenCreated in a registry file, against the compiled layout, which
also reads logs from lockers, hooks and extensions; and v4's launches where other launchpads are declared but off, and
where they are on, against the registry without any.

Then trades with curves that one contract emits for all its tokens, here tokens that are not indexed: no topic has the
token, so that each is decoded before it is dropped.

All are timed in turns, in processor seconds, and each one's best round counts. Exits with code 1 where the made
decoder is less than ten times as fast as eth_abi's, decoding a whole transaction takes longer than the floor, or
a declared launch takes longer than two compiled ones.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import eth_abi
from eth_abi.decoding import ContextFramesBytesIO
from eth_abi.registry import registry

from benchmarks.harness import Limits, keep, parse_quantities
from tests.nodes.recordings import V4_LAUNCHES, Mined, base, mined
from tokens.chains.abi import codec
from tokens.chains.abi.codec import AbiEvent, Log
from tokens.chains.addresses import checksum_bytes
from tokens.chains.evm.logs.log_decoding import decode_logs, launch_topics, own_topics
from tokens.chains.evm.logs.pool_logs import decode_pool_logs
from tokens.chains.registry.chains import ChainInfo, load_registry
from tokens.chains.types import Launch

# How many times as fast as eth_abi's decoder ours is at least, and how long whole decoding takes at most, floor = 1.
FASTER = 10.0
LIMIT = 1.0
# How many times as long as a compiled launch a declared one takes at most.
DECLARED_LIMIT = 2.0
# Dropped logs in a round, each for another token.
DROPPED = 2_000
DECLARED = """
[launchpads.declared]
pool = "v4"

[[launchpads.declared.launch]]
contracts = { 8453 = ["0xE85A59c628F7d27878ACeB4bf3b35733630083a9"] }
event = "TokenCreated(address msgSender, address indexed tokenAddress, address indexed tokenAdmin, string tokenImage, string tokenName, string tokenSymbol, string tokenMetadata, string tokenContext, int24 startingTick, address poolHook, bytes32 poolId, address pairedToken, address locker, address mevModule, uint256 extensionsSupply, address[] extensions)"
token = "tokenAddress"
name = "tokenName"
symbol = "tokenSymbol"
image = "tokenImage"
uri = "tokenMetadata"
creator = "tokenAdmin"
pool_id = "poolId"
"""  # noqa: E501

CREATED = codec.load_abi("v4").event("TokenCreated")
# A v4 launch's events. Other logs are not decoded.
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
    options = parse_quantities(__doc__, rounds=15, launches=700)
    transactions = [mined(label) for label in V4_LAUNCHES]
    repeat = max(1, options.launches // len(transactions))
    print(f"launches a round: {len(transactions) * repeat}, rounds: {options.rounds}")
    limits = Limits()
    for compare in (compare_events, compare_launches, compare_declared):
        compare(transactions, limits, rounds=options.rounds, repeat=repeat)
    time_dropped(rounds=options.rounds)
    return 0 if limits.are_kept else 1


def compare_events(transactions: list[Mined], limits: Limits, *, rounds: int, repeat: int) -> None:
    """Check that the TokenCreated decoder is so many times as fast as eth_abi's decoder for its data."""
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
    limits.at_least("TokenCreated, to eth_abi's decoder", general / made, FASTER)


def compare_launches(transactions: list[Mined], limits: Limits, *, rounds: int, repeat: int) -> None:
    """Check that whole decoding takes no longer than the floor."""
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
    limits.at_most("whole transaction, time to the floor", seconds["whole transaction"] / floor, LIMIT)


def compare_declared(transactions: list[Mined], limits: Limits, *, rounds: int, repeat: int) -> None:
    """Check that a declared launch takes no longer than two compiled ones; keep the result."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "declared.toml"
        path.write_text(DECLARED, encoding="utf-8")
        chains = {
            "compiled": replace(base()),
            "declared": load_registry(path, launchpads={8453: ("declared",)}).chain(8453),
            "compiled, others declared but off": load_registry(path).chain(8453),
            "compiled, others on": load_registry(launchpads={8453: ("clanker", "zora", "doppler")}).chain(8453),
        }
    expected, *found = (
        [values_of(launch) for one in transactions for launch in one.decode(chain)] for chain in chains.values()
    )
    assert all(values == expected for values in found)
    watched = {name: [watched_logs(chain, one) for one in transactions] for name, chain in chains.items()}
    times = {transaction.receipt["blockHash"]: 1_735_689_600 for transaction in transactions}

    def decode_whole(chain: ChainInfo) -> None:
        for transaction in transactions:
            transaction.decode(chain)

    def decode_watched(name: str, chain: ChainInfo) -> None:
        for logs in watched[name]:
            decode_logs(chain, logs, times=times)

    subjects = {f"whole transaction, {name}": partial(decode_whole, chain) for name, chain in chains.items()}
    subjects |= {f"logs alone, {name}": partial(decode_watched, name, chain) for name, chain in chains.items()}
    seconds = dict(zip(subjects, time_in_turns(*subjects.values(), rounds=rounds, repeat=repeat), strict=True))
    ratios = {name: spent / seconds[f"{name.partition(',')[0]}, compiled"] for name, spent in seconds.items()}
    for name, spent in seconds.items():
        rate = len(transactions) * repeat / spent
        print(f"{name + ':':55}{rate:8.0f} launches/s, compiled = 1: {ratios[name]:.2f}")
    launches = {name: round(1e6 * spent / len(transactions) / repeat, 1) for name, spent in seconds.items()}
    rounded = {name: round(ratio, 3) for name, ratio in ratios.items()}
    keep("decode", {"load": round(os.getloadavg()[0], 1), "launch_us": launches, "ratios": rounded})
    worst = max(ratio for name, ratio in ratios.items() if name.endswith(" declared"))
    limits.at_most("declared launch, time to a compiled one", worst, DECLARED_LIMIT)


def time_dropped(*, rounds: int) -> None:
    """Print the time for a trade that is decoded and dropped, beside a swap in a v4 pool; keep the result.

    The drop itself is a look-up in a dictionary.
    """
    chain = load_registry(launchpads={56: ("fourmeme",)}).chain(56)
    trade = chain.launchpads[0].trades[0]
    (contract,) = chain.launch_contracts
    traded = [_log(contract, [trade.event.topic0], _trade_words(number), number) for number in range(DROPPED)]
    (swapped,) = codec.load_abi("uniswap_v4").events["Swap"]
    topics = [swapped.topic0, "0x" + "11" * 32, "0x" + "00" * 12 + "22" * 20]
    swaps = [_log(chain.v4_pool_manager or "", topics, [5, 7, 1 << 96, 9, 3, 100], number) for number in range(DROPPED)]

    def drop(logs: list[Log]) -> None:
        decoded = decode_pool_logs(logs, chain=chain, times={}, senders={}, any_v3=False)
        assert len(decoded.swaps) == DROPPED

    subjects = {"trade with a curve": traded, "swap of a v4 pool": swaps}
    seconds = time_in_turns(*(partial(drop, logs) for logs in subjects.values()), rounds=rounds, repeat=1)
    dropped = {name: round(1e6 * spent / DROPPED, 1) for name, spent in zip(subjects, seconds, strict=True)}
    for name, spent in dropped.items():
        print(f"{name}, dropped: {spent} us")
    keep("dropped_trades", {"load": round(os.getloadavg()[0], 1), "dropped_us": dropped})


def _trade_words(number: int) -> list[int]:
    """Return a trade's words with a new token: token, account, price, amount, cost, fee, offers, funds."""
    return [7_919 * number + 5, number + 1, 6 * 10**9, 10**24, 10**17, 10**15, 5, 6]


def _log(address: str, topics: list[str], words: list[int], number: int) -> Log:
    return {
        "address": address,
        "topics": topics,
        "data": "0x" + "".join(word.to_bytes(32).hex() for word in words),
        "blockNumber": "0x10",
        "blockHash": "0x" + "11" * 32,
        "transactionHash": "0x" + number.to_bytes(32).hex(),
        "transactionIndex": "0x1",
        "logIndex": hex(number),
    }


def values_of(launch: Launch) -> tuple[object, ...]:
    """Return what both layouts read from a launch."""
    pool = launch.pool
    assert pool
    texts = launch.name, launch.symbol, launch.image
    return launch.token, launch.admin, launch.log_index, texts, pool.address, pool.paired_token, pool.tick, pool.hook


def read_work(transaction: Mined) -> list[Work]:
    """Return each log's types and bytes, in topics and data, that a launch is read from."""
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
    """Return an event's data types with texts as bytes, so that invalid UTF-8 is no error."""
    return tuple(kind.replace("string", "bytes") for kind in event.layout.types[event.indexed :])


def watched_logs(chain: ChainInfo, transaction: Mined) -> list[Log]:
    """Return the transaction's logs that match the filters."""
    requested, own = launch_topics(chain), own_topics(chain)
    emitters = chain.emitters | chain.pools_of_launches
    return [
        log
        for log in transaction.logs
        if log["topics"][0] in own or (log["topics"][0] in requested and log["address"].lower() in emitters)
    ]


def time_in_turns(*subjects: Callable[[], None], rounds: int, repeat: int) -> tuple[float, ...]:
    """Return each one's best time in processor seconds.

    In turns, so that a slow moment affects all.
    """
    best = [float("inf")] * len(subjects)
    for _ in range(rounds):
        for place, subject in enumerate(subjects):
            started = time.process_time()
            for _ in range(repeat):
                subject()
            best[place] = min(best[place], time.process_time() - started)
    return tuple(best)


if __name__ == "__main__":
    sys.exit(main())
