"""From a block to a candle, beside the list: launches and swaps on a real anvil, as in `head_latency`."""

import os
import time
from dataclasses import dataclass, field
from typing import Any

import orjson
from eth_abi.abi import encode
from eth_utils.crypto import keccak
from redis import Redis

from benchmarks.harness import Limits, print_table
from benchmarks.head_latency import (
    BLOCK_SECONDS,
    LOOK_SECONDS,
    REDIS_DATABASE,
    Clock,
    chain_settings,
    launch_latencies,
    wait_until_followed,
    watching,
)
from benchmarks.http_load import fetch, open_connection, percentile
from benchmarks.lists import dataset
from benchmarks.processes import web_server
from development.devchain import anvil, deploy_contracts, node_client
from development.devchain.deploy_contracts import DevelopmentContracts
from development.devchain.launch_transactions import DevLaunchConfig, send_launch
from development.servers import bundled
from tests.processes.service_processes import service
from tokens.chains.abi import codec

DATABASE = "trades_head"
_SWAP = codec.load_abi("uniswap_v4").event("Swap")
_POOL_KEY = ("address", "address", "uint24", "int24", "address")
_TIMEOUT_SECONDS = 30.0


@dataclass
class TradeClock(Clock):
    """When a token's n-th swap was first counted in its candles."""

    counted: list[float] = field(default_factory=list)

    def watch_candles(self, port: int, path: str) -> None:
        """Record each swap when a response has it."""
        connection = open_connection(port)
        while not self.stop.is_set():
            _, answer = fetch(path, connection)
            now = time.perf_counter()
            head, _, body = answer.partition(b"\r\n\r\n")
            if b" 200 " not in head[:20]:
                raise RuntimeError(answer[:300].decode(errors="replace"))
            trades = sum(candle["trades"] for candle in orjson.loads(body)["data"])
            self.counted += [now] * (trades - len(self.counted))
            time.sleep(LOOK_SECONDS)
        connection.close()


@dataclass(frozen=True)
class _TradedPool:
    token: str
    pool_id: str
    key: tuple[str, str, int, int, str]


def measure_head(*, launches: int, launches_a_block: int, swaps_a_launch: int, limits: Limits) -> dict[str, Any]:
    """Print the latencies for launches in the list, and for swaps in candles; return them."""
    os.environ["REDIS_URL"] = os.environ["REDIS_URL"].partition("?")[0] + f"?db={REDIS_DATABASE}"
    dataset.make_migrated(DATABASE)
    Redis.from_url(os.environ["REDIS_URL"]).flushdb()
    chains_file = bundled.local_directory() / "trade_head.toml"
    with anvil.run_anvil(block_time=BLOCK_SECONDS) as url:
        at = deploy_contracts.deploy_contracts(url, chains_file=chains_file)
        pool = _launch_traded(at)
        environment = dataset.environment(DATABASE) | chain_settings(url, chains_file, websocket=True)
        # The traded token was launched before.
        environment |= {f"FOLLOW_FROM_{anvil.CHAIN_ID}": "0"}
        path = f"/api/tokens/{anvil.CHAIN_ID}/{pool.token}/candles?interval=1m&limit=1000"
        with web_server(environment, EDGE_CACHE_SECONDS="0") as port, service("follower", environment):
            wait_until_followed(DATABASE)
            clock = TradeClock()
            with watching(clock, url, lambda: clock.watch_list(port), lambda: clock.watch_candles(port, path)):
                hashes = _send(at, pool, launches, launches_a_block, swaps_a_launch)
                listed = launch_latencies(url, at, hashes, clock)
                traded = _swap_latencies(at, pool, clock, count=launches * swaps_a_launch)
    return _report({"launch in the list": listed, "swap in a candle": traded}, limits)


def _launch_traded(at: DevelopmentContracts) -> _TradedPool:
    """Launch the token that is traded."""
    config = DevLaunchConfig(name="Traded", symbol="TRADED", salt=bytes(31) + b"T")
    sender = node_client.connect(at.rpc_url).eth.accounts[0]
    receipt = node_client.wait_for_receipt(at.rpc_url, send_launch(at, config, sender=sender))
    locker = node_client.bind_contract(at.rpc_url, "Locker", at.locker)
    block = receipt["blockNumber"]
    (added,) = locker.events.TokenRewardAdded().get_logs(from_block=block, to_block=block)
    names = ("currency0", "currency1", "fee", "tickSpacing", "hooks")
    currency0, currency1, fee, spacing, hooks = (added["args"]["poolKey"][name] for name in names)
    key = (currency0, currency1, fee, spacing, hooks)
    return _TradedPool(added["args"]["token"], f"0x{keccak(encode(_POOL_KEY, key)).hex()}", key)


def _send(
    at: DevelopmentContracts, pool: _TradedPool, launches: int, launches_a_block: int, swaps_a_launch: int
) -> list[Any]:
    """Send launches at an even pace, each with purchases for the traded token; return the launches' hashes."""
    accounts = node_client.connect(at.rpc_url).eth.accounts
    router = node_client.bind_contract(at.rpc_url, "SwapRouter", at.swap_router)
    purchase = router.functions.swap(pool.key, at.wrapped_native, 10**15, 0)
    begin, hashes = time.monotonic(), []
    for number in range(launches):
        config = DevLaunchConfig(name=f"Head {number}", symbol=f"H{number}", salt=number.to_bytes(32, "big"))
        hashes.append(send_launch(at, config, sender=accounts[number % anvil.LAUNCHERS]))
        for swap in range(swaps_a_launch):
            trader = accounts[-1 - (number * swaps_a_launch + swap) % anvil.TRADERS]
            purchase.transact({"from": trader, "gas": node_client.GAS, "value": 10**15})
        time.sleep(max(begin + (number + 1) * BLOCK_SECONDS / launches_a_block - time.monotonic(), 0))
    return hashes


def _swap_latencies(at: DevelopmentContracts, pool: _TradedPool, clock: TradeClock, *, count: int) -> list[float]:
    """Return each swap's seconds from block to candle, sorted. Raises RuntimeError where one never appears."""
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while len(clock.counted) < count:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{len(clock.counted)} of {count} swaps are in candles")
        time.sleep(0.05)
    wanted: Any = {"fromBlock": 0, "address": at.pool_manager, "topics": [_SWAP.topic0, pool.pool_id]}
    blocks = [log["blockNumber"] for log in node_client.connect(at.rpc_url).eth.get_logs(wanted)]
    return sorted(seen - clock.notified[block] for seen, block in zip(clock.counted, blocks, strict=True))


def _report(found: dict[str, list[float]], limits: Limits) -> dict[str, Any]:
    rows, result = [], {}
    for name, times in found.items():
        values = {f"p{percent}_ms": round(1000 * percentile(times, percent), 1) for percent in (50, 90, 99, 100)}
        rows.append((name, len(times), *values.values()))
        result[name] = {"count": len(times)} | values
    print_table(("from its block, ms", "", "p50", "p90", "p99", "slowest"), rows)
    listed, traded = result.values()
    limits.at_most("p99 of candles after that of the list", traded["p99_ms"] - listed["p99_ms"], 100, "ms")
    return result
