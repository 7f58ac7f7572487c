"""Two followers for four chains: each leads two, and the other one takes over when one is killed."""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psutil

from benchmarks.scaling.simulated_chains import database_url, fetch_rows, missing_launches, run_chains
from tests.processes.service_processes import Service
from tests.simulator import SimulatedChain, Traffic
from tokens.indexing.chain_lock import ChainLockPurpose, chain_lock_key

_CHAINS, _BLOCKS, _KILLS = 4, 60, 8
_BLOCK_SECONDS, _STEADY_SECONDS = 1.0, 30.0
_TRAFFIC = Traffic(launches=2.0, events=2.0, swaps=10.0)
_TIMEOUT_SECONDS = 120.0
_LEADERS = """SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND (classid::bigint << 32 | objid::bigint) = %s"""


def measure_followers() -> dict[str, Any]:
    """Return the chains that each follower leads, each one's costs at the head, and the take-over seconds."""
    with run_chains(_CHAINS, blocks=_BLOCKS, traffic=_TRAFFIC) as chains, _growing(chains) as stop:
        first, second = _start("first", chains[:2]), _start("second", chains[2:])
        try:
            _wait_until(lambda: _leaders(chains) == {"first": 2, "second": 2} and _are_followed(chains))
            leaders = dict(_leaders(chains))
            costs = _measure_costs(first, second)
            # From here on, each follows all chains: one leads the other's chains when that one is killed.
            first.kill()
            first = _start("first", chains)
            second.kill()
            second = _start("second", chains)
            times = []
            for _ in range(_KILLS):
                _wait_until(lambda: _are_followed(chains))
                leads_first = _leaders(chains)["first"] == _CHAINS
                victim = first if leads_first else second
                started = time.monotonic()
                victim.kill()
                heads = [chain.head.number for chain in chains]
                _wait_until(lambda heads=heads: _are_followed(chains, heads))
                times.append(round(time.monotonic() - started, 2))
                victim.start()
            stop.set()
            heads = [chain.head.number for chain in chains]
            _wait_until(lambda: _are_followed(chains, heads))
            missing = missing_launches(chains, up_to=heads)
        finally:
            first.kill()
            second.kill()
    return {
        "chains": _CHAINS,
        "block_seconds": _BLOCK_SECONDS,
        "a block": {"launches": _TRAFFIC.launches, "swaps": _TRAFFIC.swaps, "events": _TRAFFIC.events},
        "chains led": leaders,
        "costs": costs,
        "take-over, s": times,
        "launches": sum(len(chain.truth().tokens) for chain in chains),
        "missing or failed": missing,
    }


def _start(name: str, chains: Sequence[SimulatedChain]) -> Service:
    """Start a follower for these chains only: the variables for the others' nodes are left out."""
    ids = {str(chain.chain_id) for chain in chains}
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith("RPC_") or key.rpartition("_")[2] in ids
    }
    return Service("follower", environment | {"DATABASE_URL": database_url(name)})


@contextmanager
def _growing(chains: Sequence[SimulatedChain]) -> Iterator[threading.Event]:
    """Mine blocks on all chains until the block ends, or the event is set."""
    stop = threading.Event()

    def mine() -> None:
        while not stop.wait(_BLOCK_SECONDS):
            for chain in chains:
                chain.mine()

    miner = threading.Thread(target=mine)
    miner.start()
    try:
        yield stop
    finally:
        stop.set()
        miner.join()


def _leaders(chains: Sequence[SimulatedChain]) -> Counter[str]:
    """Return how many chains each follower leads."""
    keys = (chain_lock_key(ChainLockPurpose.FOLLOWING, chain.chain_id) for chain in chains)
    return Counter(str(name) for key in keys for (name,) in fetch_rows(_LEADERS, key))


def _are_followed(chains: Sequence[SimulatedChain], heads: Sequence[int] | None = None) -> bool:
    """Return whether these blocks are stored; by default, those three blocks below the heads."""
    wanted = heads or [chain.head.number - 3 for chain in chains]
    followed = dict(fetch_rows("SELECT chain_id, followed FROM tokens_chainhead"))
    return all((followed.get(chain.chain_id) or -1) >= number for chain, number in zip(chains, wanted, strict=True))


def _measure_costs(*followers: Service) -> dict[str, Any]:
    processes = [psutil.Process(follower.process.pid) for follower in followers]
    before = [sum(process.cpu_times()[:2]) for process in processes]
    time.sleep(_STEADY_SECONDS)
    used = [sum(process.cpu_times()[:2]) - start for process, start in zip(processes, before, strict=True)]
    return {
        "CPU ms a block of a chain": round(1000 * sum(used) / (_CHAINS * _STEADY_SECONDS / _BLOCK_SECONDS), 1),
        "resident MB of each": [round(process.memory_info().rss / 2**20) for process in processes],
    }


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError("the followers do not reach the heads")
        time.sleep(0.02)
