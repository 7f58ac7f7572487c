"""Deployments through HTTP, and how soon they are indexed, against a bare script that signs and sends the same calls.

    python -m benchmarks.deploy [--orders 300] [--steady 60] [--clients 8]

First as many requests as come through, then some at an even pace that leaves blocks room; each time the bare script
does the same on the same chain, which is rolled back in between. Blocks come every second and have room for all
pending transactions, so that no queue for them is measured. Exits with code 1 where the service is beyond its limits.
"""

import http.client
import json
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import requests
from eth_account import Account

from benchmarks.harness import Limits, keep, parse_quantities
from benchmarks.http_load import percentile
from benchmarks.lists import dataset
from benchmarks.processes import web_server
from development.devchain.anvil import CHAIN_ID, run_anvil
from development.devchain.deploy_contracts import deploy_contracts
from tests.chaos.harness import WALLETS, create_accounts
from tests.processes.service_processes import HOST, service
from tests.servers.deploy_clients import order

_DATABASE = "deploys"
_BLOCK_SECONDS = 1.0
_ROOMY_BLOCK_GAS = 10**10
Thing = TypeVar("Thing")

# The node's account 7, which is the bare script's.
_BARE_KEY = "0x4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356"
_FEES = {"maxFeePerGas": 20 * 10**9, "maxPriorityFeePerGas": 10**9}
# Requests a second, at an even pace.
_PACE = 2.0
_LOOK_SECONDS = 0.02
_TIMEOUT_SECONDS = 300.0
# At an even pace, from the response to the token in the list may take so many seconds more than a bare transaction
# needs until its block is seen.
_LIMIT_SECONDS = 3.0


@dataclass(frozen=True)
class Timed:
    """How many a second were accepted, and the seconds each took until it was in the list or its block, sorted."""

    rate: float
    seconds: Sequence[float]

    def row(self) -> dict[str, float]:
        return {
            "a second": round(self.rate, 1),
            "p50": round(percentile(self.seconds, 50), 2),
            "p99": round(percentile(self.seconds, 99), 2),
        }


@dataclass(frozen=True)
class Call:
    """A deployment's call: the same that the service has sent."""

    to: str
    data: str
    value: int
    gas: int


def main() -> int:
    """Measure, print and store the results; return 1 beyond the limit."""
    options = parse_quantities(__doc__, orders=300, steady=60, clients=8)
    phases = {"burst": (options.orders, None), "even pace": (options.steady, _PACE)}
    dataset.start_server()
    dataset.make_migrated(_DATABASE)
    with tempfile.TemporaryDirectory() as place, run_anvil(block_time=_BLOCK_SECONDS) as url:
        chains = Path(place) / "chains.toml"
        deploy_contracts(url, chains_file=chains)
        _rpc(url, "evm_setBlockGasLimit", hex(_ROOMY_BLOCK_GAS))
        mark = _rpc(url, "evm_snapshot")
        environment = dataset.environment(_DATABASE) | {
            "CHAINS_FILE": str(chains),
            f"RPC_URLS_{CHAIN_ID}": url,
            f"DEPLOYER_KEYS_{CHAIN_ID}": ",".join(WALLETS.values()),
            "RATE_LIMIT_KEYED": "1000000",
            "LOG_LEVEL": "ERROR",
        }
        (key,), _ = create_accounts(environment, ["Benchmark"])
        with web_server(environment) as port, service("worker", environment), service("beat", environment):
            client = _Client(port, key)
            # The worker takes longer to start than the web server.
            _order(client, 1, 1, None)
            served = {name: _order(client, count, options.clients, pace) for name, (count, pace) in phases.items()}
        calls = _calls()
        next(calls)
        # The same tokens can be launched once more.
        assert _rpc(url, "evm_revert", mark)
        bare = {name: _send(url, [next(calls) for _ in range(count)], pace) for name, (count, pace) in phases.items()}
    table = {name: {"service": served[name].row(), "bare": bare[name].row()} for name in phases}
    for name, row in table.items():
        print(f"{name:10} service {row['service']}  bare {row['bare']}")
    keep("deploy", table)
    behind = table["even pace"]["service"]["p99"] - table["even pace"]["bare"]["p99"]
    limits = Limits()
    limits.at_most("p99 at an even pace, more than the script", behind, _LIMIT_SECONDS, "s")
    return 0 if limits.are_kept else 1


class _Client:
    """A partner's program, with a connection that is kept for each thread."""

    def __init__(self, port: int, key: str) -> None:
        self._port, self._headers = port, {"x-api-key": key, "content-type": "application/json"}
        self._local = threading.local()

    def order(self, request_key: str) -> None:
        """Request a deployment.

        Raises RuntimeError where it is not accepted.
        """
        if not hasattr(self._local, "connection"):
            self._local.connection = http.client.HTTPConnection(HOST, self._port, timeout=60)
        connection: http.client.HTTPConnection = self._local.connection
        body = order(f"Token {request_key[:8]}", request_key=request_key)
        connection.request("POST", "/api/tokens/deploy", json.dumps(body), self._headers)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {content.decode()}")


def _order(client: _Client, count: int, clients: int, pace: float | None) -> Timed:
    """Have the service launch so many tokens; with a pace, so many a second, else as many as it accepts."""
    keys = [secrets.token_hex(16) for _ in range(count)]
    accepted: dict[str, float] = {}

    def post(request_key: str) -> None:
        client.order(request_key)
        accepted[request_key] = time.monotonic()

    with dataset.connect(_DATABASE) as database:
        indexed = "SELECT request_key FROM tokens_deployment WHERE status = 'indexed'"
        with _first_seen(lambda: {str(row[0]) for row in database.execute(indexed)}) as seen:
            with ThreadPoolExecutor(clients) as pool:
                started = time.monotonic()
                tasks = [pool.submit(post, key) for key in _at_pace(keys, pace)]
                for task in tasks:
                    task.result()
                rate = count / (time.monotonic() - started)
            _wait_for(keys, seen)
    return Timed(rate, sorted(seen[key] - accepted[key] for key in keys))


def _calls() -> Iterator[Call]:
    """Return the calls that the service has sent, in that order."""
    sent = "SELECT to_address, calldata, value, gas FROM tokens_deployment ORDER BY id"
    with dataset.connect(_DATABASE) as database:
        for to, data, value, gas in database.execute(sent).fetchall():
            yield Call(to=str(to), data="0x" + bytes(data).hex(), value=int(value), gas=int(gas))


def _send(url: str, calls: Sequence[Call], pace: float | None) -> Timed:
    """Sign the calls with one key, one after the other, and send them."""
    account, session = Account.from_key(_BARE_KEY), requests.Session()
    first = int(_rpc(url, "eth_getTransactionCount", account.address, "latest"), 16)
    sent: dict[str, float] = {}
    with _first_seen(lambda: set(_rpc(url, "eth_getBlockByNumber", "latest", False)["transactions"])) as seen:
        started = time.monotonic()
        for number, call in enumerate(_at_pace(calls, pace)):
            transaction = {"type": 2, "chainId": CHAIN_ID, "nonce": first + number, **asdict(call), **_FEES}
            raw = account.sign_transaction(transaction).raw_transaction.to_0x_hex()
            sent[_rpc(url, "eth_sendRawTransaction", raw, session=session)] = time.monotonic()
        rate = len(calls) / (time.monotonic() - started)
        _wait_for(list(sent), seen)
    for tx_hash in sent:
        assert _rpc(url, "eth_getTransactionReceipt", tx_hash, session=session)["status"] == "0x1", tx_hash
    return Timed(rate, sorted(seen[tx_hash] - sent[tx_hash] for tx_hash in sent))


def _at_pace(things: Sequence[Thing], pace: float | None) -> Iterator[Thing]:
    """Yield the things, so many a second; all at once without a pace."""
    started = time.monotonic()
    for number, thing in enumerate(things):
        if pace is not None:
            time.sleep(max(0.0, started + number / pace - time.monotonic()))
        yield thing


@contextmanager
def _first_seen(read: Callable[[], set[str]]) -> Iterator[dict[str, float]]:
    """Record when each text was first among those that are read, in a loop while the block runs."""
    seen: dict[str, float] = {}
    over = threading.Event()

    def look() -> None:
        while not over.wait(_LOOK_SECONDS):
            for found in read().difference(seen):
                seen[found] = time.monotonic()

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield seen
    finally:
        over.set()
        looking.join()


def _wait_for(expected: Sequence[str], seen: dict[str, float]) -> None:
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while left := [one for one in expected if one not in seen]:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{len(left)} of {len(expected)} came to no end")
        time.sleep(_LOOK_SECONDS)


def _rpc(url: str, method: str, *params: Any, session: requests.Session | None = None) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return (session or requests).post(url, json=body, timeout=30).json()["result"]


if __name__ == "__main__":
    sys.exit(main())
