"""Benchmark from a block to the list: how soon a launch that was just mined is in the response to `GET /api/tokens`.

    python -m benchmarks.head_latency [--launches 500] [--a-block 4] [--launchpads [--together 1]]

anvil mines a block a second, with launches by our development contracts in each. The service is what production runs,
by the Procfile's lines: the web server and the follower, on an empty database in the bundled PostgreSQL. The clock
starts when anvil notifies the benchmark's own subscription about the block, and stops when a response with the token
has arrived; the list is polled every 5 ms. Measured with a WebSocket URL (RPC_WS_URL), by polling only, and with a
WebSocket behind the public response cache, which by contract is up to 2 s old; else that cache is off.

With `--launchpads`, it is measured with a WebSocket only: for v4 alone, and then with Zora and Doppler switched on. For
each launch by our contracts there is one by theirs, three in four by Zora, with the trades after it. With `--together`,
so many by theirs come at a time, and seldom. Their real contracts' recorded logs are emitted again (`launchpad_mix`).

Every launch has to appear. The results go to `benchmarks/results/head_latency.json` as well, with `--launchpads` to
`head_latency_launchpads.json`, or `head_latency_launchpads_together.json`. Exits with code 1 where, with a WebSocket,
half the launches take over 300 ms or one in a hundred over 1 s, or where the launchpads add over 100 ms to that.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

import orjson
from redis import Redis
from websockets.sync.client import connect

from benchmarks.harness import Limits, keep, parse_quantities, print_table
from benchmarks.http_load import fetch, open_connection, percentile
from benchmarks.launchpad_mix import LAUNCHES_A_ROUND, LaunchpadMix
from benchmarks.lists import dataset
from benchmarks.processes import web_server
from development.devchain import anvil, deploy_contracts, node_client
from development.devchain.deploy_contracts import DevelopmentContracts
from development.devchain.launch_transactions import DevLaunchConfig, send_launch
from development.servers import bundled
from tests.processes.service_processes import service
from tokens.chains.abi import codec

BLOCK_SECONDS = 1.0
# Newest first, which is the default.
PATH = "/api/tokens?limit=20"
EMPTY, OURS = "head_empty", "head_ours"
# A numbered Valkey database that no other process on this server uses.
REDIS_DATABASE = 9
LOOK_SECONDS = 0.005
_START_SECONDS = 60.0
_TIMEOUT_SECONDS = 30.0
_HEADERS = '{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}'
_CREATED = codec.load_abi("v4").event("TokenCreated")

WITH_WEBSOCKET = "WebSocket"
WITH_LAUNCHPADS, OF_LAUNCHPADS = "WebSocket, with Zora and Doppler", "Zora's and Doppler's among them"
# Name, whether there is a WebSocket URL, EDGE_CACHE_SECONDS.
RUNS = ((WITH_WEBSOCKET, True, "0"), ("polling", False, "0"), ("WebSocket, answers cached for 2 s", True, "2"))


@dataclass
class Clock:
    """When blocks were notified and tokens were first seen in the list, in seconds on one clock."""

    # By number, and by lower-case address.
    notified: dict[int, float] = field(default_factory=dict)
    seen: dict[str, float] = field(default_factory=dict)
    stop: Event = field(default_factory=Event)

    def watch_blocks(self, url: str) -> None:
        """Record each block when the node sends its notification."""
        with connect(url.replace("http://", "ws://")) as socket:
            socket.send(_HEADERS)
            while not self.stop.is_set():
                try:
                    message = orjson.loads(socket.recv(timeout=0.5))
                except TimeoutError:
                    continue
                if "params" in message:
                    self.notified[int(message["params"]["result"]["number"], 16)] = time.perf_counter()

    def watch_list(self, port: int) -> None:
        """Record each token when a response has it."""
        connection = open_connection(port)
        while not self.stop.is_set():
            _, answer = fetch(PATH, connection)
            now = time.perf_counter()
            head, _, body = answer.partition(b"\r\n\r\n")
            if b" 200 " not in head[:20]:
                raise RuntimeError(answer[:300].decode(errors="replace"))
            for record in orjson.loads(body)["data"]:
                self.seen.setdefault(record["contract_address"].lower(), now)
            time.sleep(LOOK_SECONDS)
        connection.close()


def main() -> int:
    """Print all runs' latencies; return 1 where one is beyond its limit."""
    options = parse_quantities(__doc__, launches=500, a_block=4.0, launchpads=False, together=1)
    dataset.start_server()
    os.environ["REDIS_URL"] = os.environ["REDIS_URL"].partition("?")[0] + f"?db={REDIS_DATABASE}"
    dataset.make_migrated(EMPTY)
    if options.launchpads:
        latencies = {WITH_WEBSOCKET: _measure(options)[0]}
        latencies[WITH_LAUNCHPADS], latencies[OF_LAUNCHPADS] = _measure(options, with_launchpads=True)
    else:
        latencies = {name: _measure(options, websocket=websocket, cache=cache)[0] for name, websocket, cache in RUNS}
    return _report(latencies, together=options.together)


def _measure(
    options: argparse.Namespace, *, websocket: bool = True, cache: str = "0", with_launchpads: bool = False
) -> tuple[list[float], list[float]]:
    """Return one run's latencies, sorted, in seconds: launches by our contracts, and by declared launchpads."""
    dataset.make_empty(OURS, template=EMPTY)
    Redis.from_url(os.environ["REDIS_URL"]).flushdb()
    chains_file = bundled.local_directory() / "head_latency.toml"
    with anvil.run_anvil(block_time=BLOCK_SECONDS) as url:
        deployment = deploy_contracts.deploy_contracts(url, chains_file=chains_file)
        environment = dataset.environment(OURS) | chain_settings(url, chains_file, websocket=websocket)
        mix = None
        if with_launchpads:
            mix, launchpads = LaunchpadMix(deployment), bundled.local_directory() / "head_latency_launchpads.toml"
            environment |= mix.declare(launchpads) | {"CHAINS_FILE": f"{chains_file},{launchpads}"}
        with web_server(environment, EDGE_CACHE_SECONDS=cache) as port, service("follower", environment):
            wait_until_followed(OURS)
            _warm_up(deployment, mix)
            clock = Clock()
            with watching(clock, url, lambda: clock.watch_list(port)):
                hashes = _launch(deployment, options, mix)
                ours = launch_latencies(url, deployment, hashes, clock)
                return ours, _wait_for_list(_blocks_of(url, mix.launched), clock) if mix else []


def chain_settings(url: str, chains_file: Path, *, websocket: bool) -> dict[str, str]:
    """Return the settings with which the service follows the node."""
    settings = {f"RPC_URLS_{anvil.CHAIN_ID}": url, "CHAINS_FILE": str(chains_file)}
    if websocket:
        settings[f"RPC_WS_URL_{anvil.CHAIN_ID}"] = url.replace("http://", "ws://")
    return settings


def wait_until_followed(database: str) -> None:
    """Wait until the follower has written blocks up to the head."""
    deadline = time.monotonic() + _START_SECONDS
    with dataset.connect(database) as connection:
        while not connection.execute("SELECT FROM tokens_chainhead WHERE followed >= head").rowcount:
            if time.monotonic() > deadline:
                raise RuntimeError("the follower did not reach the head")
            time.sleep(0.1)


@contextmanager
def watching(clock: Clock, url: str, *watches: Callable[[], None]) -> Iterator[None]:
    """Watch a node's blocks, and more, each in a thread, until the block ends."""
    threads = [Thread(target=watch, daemon=True) for watch in (lambda: clock.watch_blocks(url), *watches)]
    for thread in threads:
        thread.start()
    try:
        # A block that is mined before the subscription begins is never notified.
        deadline = time.monotonic() + _START_SECONDS
        while not clock.notified:
            if time.monotonic() > deadline:
                raise RuntimeError("the node tells of no blocks")
            time.sleep(0.01)
        yield
    finally:
        clock.stop.set()
        for thread in threads:
            thread.join()


def _warm_up(deployment: DevelopmentContracts, mix: LaunchpadMix | None) -> None:
    """Launch as often as a round does, and wait until all is written: a follower's first launches load its decoders."""
    *_, other = node_client.connect(deployment.rpc_url).eth.accounts
    for number in range(LAUNCHES_A_ROUND):
        config = DevLaunchConfig(
            name=f"First {number}", symbol=f"F{number}", salt=(2**255 + number).to_bytes(32, "big")
        )
        send_launch(deployment, config, sender=other)
    expected = LAUNCHES_A_ROUND
    if mix:
        for _ in range(LAUNCHES_A_ROUND):
            mix.send_next(other)
        expected += len(mix.launched)
        mix.launched.clear()
    deadline = time.monotonic() + _START_SECONDS
    with dataset.connect(OURS) as connection:
        while connection.execute("SELECT FROM tokens_token").rowcount < expected:
            if time.monotonic() > deadline:
                raise RuntimeError("the first launches were not written")
            time.sleep(0.1)


def _launch(deployment: DevelopmentContracts, options: argparse.Namespace, mix: LaunchpadMix | None) -> list[Any]:
    """Send so many launches at an even pace, and as many from the mix, several at a time; return our hashes."""
    *accounts, other = node_client.connect(deployment.rpc_url).eth.accounts
    pause = BLOCK_SECONDS / options.a_block
    begin = time.monotonic()
    hashes = []
    for number in range(options.launches):
        config = DevLaunchConfig(name=f"Head {number}", symbol=f"H{number}", salt=number.to_bytes(32, "big"))
        hashes.append(send_launch(deployment, config, sender=accounts[number % len(accounts)]))
        if mix and (number + 1) % options.together == 0:
            time.sleep(max(begin + (number + 0.5) * pause - time.monotonic(), 0))
            for _ in range(options.together):
                mix.send_next(other)
        time.sleep(max(begin + (number + 1) * pause - time.monotonic(), 0))
    return hashes


def launch_latencies(url: str, deployment: DevelopmentContracts, hashes: list[Any], clock: Clock) -> list[float]:
    """Return each launch's seconds from block to list, sorted.

    Raises RuntimeError where one never appears.
    """
    launched: dict[str, int] = {}
    for transaction in hashes:
        receipt = json.loads(node_client.connect(url).to_json(node_client.wait_for_receipt(url, transaction)))
        for log in receipt["logs"]:
            if log["address"].lower() == deployment.factory.lower() and log["topics"][0] == _CREATED.topic0:
                launched[f"0x{log['topics'][1][26:]}".lower()] = receipt["blockNumber"]
    return _wait_for_list(launched, clock)


def _blocks_of(url: str, launched: Mapping[str, Any]) -> dict[str, int]:
    """Return token -> its launch block, from transactions by token."""
    return {token: node_client.wait_for_receipt(url, sent)["blockNumber"] for token, sent in launched.items()}


def _wait_for_list(launched: Mapping[str, int], clock: Clock) -> list[float]:
    """Return the seconds from block to list for tokens by their blocks, sorted. Raises RuntimeError as above."""
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while missing := launched.keys() - clock.seen.keys():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{len(missing)} of {len(launched)} launches were never seen in the list")
        time.sleep(0.05)
    return sorted(clock.seen[token] - clock.notified[block] for token, block in launched.items())


def _report(latencies: dict[str, list[float]], *, together: int) -> int:
    rows, result = [], {}
    for name, times in latencies.items():
        values = [1000 * percentile(times, percent) for percent in (50, 90, 99, 100)]
        rows.append((name, f"{len(times)}", *(f"{value:,.0f}" for value in values)))
        result[name] = {"launches": len(times)} | dict(
            zip(("p50_ms", "p90_ms", "p99_ms", "slowest_ms"), (round(value, 1) for value in values), strict=True)
        )
    print_table(("from block to list, ms", "launches", "p50", "p90", "p99", "slowest"), rows)
    load = {"load_average": [round(load, 1) for load in os.getloadavg()]}
    name = "head_latency_launchpads" if WITH_LAUNCHPADS in latencies else "head_latency"
    name += "_together" if together > 1 else ""
    keep(name, {**load, "block_seconds": BLOCK_SECONDS, "runs": result})
    limits = Limits()
    limits.at_most("50th percentile with a WebSocket", 1000 * percentile(latencies[WITH_WEBSOCKET], 50), 300, "ms")
    limits.at_most("99th percentile with a WebSocket", 1000 * percentile(latencies[WITH_WEBSOCKET], 99), 1000, "ms")
    if WITH_LAUNCHPADS in latencies:
        both = (1000 * percentile(latencies[name], 99) for name in (WITH_LAUNCHPADS, WITH_WEBSOCKET))
        limits.at_most("what launchpads add to the 99th percentile", next(both) - next(both), 100, "ms")
    return 0 if limits.are_kept else 1


if __name__ == "__main__":
    sys.exit(main())
