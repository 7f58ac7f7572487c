"""Public reads with and without a streaming replica, and while it is killed and returns."""

import os
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import orjson
import psycopg

from benchmarks.http_load import Load, fetch, load, open_connection, percentile
from benchmarks.lists import dataset
from benchmarks.process_costs import server_cpu
from benchmarks.processes import web_server
from tests.processes.own_postgresql import OwnPostgres

_TOKENS = 20_000
_ROUNDS, _SECONDS = 3, 6.0
_COMMITS = 500
_PATHS = tuple(f"/api/tokens?limit=20&sortBy={name}" for name in ("deployed-at", "market-cap", "tx-h24"))
_UNCACHED = {"EDGE_CACHE_SECONDS": "0"}


def measure_replica_load() -> dict[str, Any]:
    """Return rates, CPU in both servers, the replay delay, and reads around a `kill -9`."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        primary = OwnPostgres(Path(first))
        os.environ["DATABASE_URL"] = primary.url
        dataset.run_manage(os.environ, "migrate", "--verbosity", "0")
        with psycopg.connect(primary.url, autocommit=True) as connection:
            empty = _database_bytes(connection)
            dataset.run_manage(os.environ, "seed_tokens", "--count", str(_TOKENS))
            token_bytes = (_database_bytes(connection) - empty) // _TOKENS
            connection.execute("CREATE TABLE replayed (number integer)")
        replica = OwnPostgres(Path(second), primary=primary)
        try:
            return {
                "tokens": _TOKENS,
                "bytes a token, with market and indexes": token_bytes,
                "replay": _measure_replay(primary.url, replica.url),
                **_measure_rates(primary.url, replica.url),
                **_measure_kill(primary.url, replica),
            }
        finally:
            replica.stop()
            primary.stop()


def _database_bytes(connection: "psycopg.Connection[tuple[object, ...]]") -> int:
    (size,) = connection.execute("SELECT pg_database_size(current_database())").fetchone() or (0,)
    return int(str(size))


def _measure_replay(primary_url: str, replica_url: str) -> dict[str, float]:
    """Return the milliseconds from a commit's end until the replica has it."""
    times = []
    with psycopg.connect(primary_url, autocommit=True) as primary, psycopg.connect(replica_url, autocommit=True) as own:
        for number in range(_COMMITS):
            primary.execute("INSERT INTO replayed VALUES (%s)", [number])
            started = time.perf_counter()
            while own.execute("SELECT count(*) FROM replayed").fetchone() != (number + 1,):
                pass
            times.append(1000 * (time.perf_counter() - started))
    times.sort()
    return {f"p{percent}_ms": round(percentile(times, percent), 2) for percent in (50, 99, 100)}


def _measure_rates(primary_url: str, replica_url: str) -> dict[str, Any]:
    """Return reads a second, and both servers' CPU milliseconds for a read, from rounds in turn."""
    found: dict[str, list[tuple[float, float, float]]] = {"without": [], "with": []}
    with psycopg.connect(primary_url, autocommit=True) as one, psycopg.connect(replica_url, autocommit=True) as other:
        for _ in range(_ROUNDS):
            for name, own in (("without", {}), ("with", {"READ_REPLICA_URL": replica_url})):
                with web_server(os.environ, **_UNCACHED, **own) as port:
                    load(port, _PATHS, seconds=1.0)
                    before = server_cpu(one), server_cpu(other)
                    reads = load(port, _PATHS, seconds=_SECONDS)
                    costs = server_cpu(one) - before[0], server_cpu(other) - before[1]
                each = len(reads.times) / 1000
                found[name].append((reads.rate, costs[0] / each, costs[1] / each))
    titles = ("reads a second", "CPU ms a read, primary", "CPU ms a read, replica")
    return {
        f"{name} replica": {
            title: round(sorted(column)[_ROUNDS // 2], 3)
            for title, column in zip(titles, zip(*rounds, strict=True), strict=True)
        }
        for name, rounds in found.items()
    }


def _measure_kill(primary_url: str, replica: OwnPostgres) -> dict[str, Any]:
    """Kill the replica under load and start it again. Any response but a 200 is a failure."""
    outcome: list[Load | Exception] = []
    with web_server(os.environ, **_UNCACHED, READ_REPLICA_URL=replica.url) as port:
        _wait_for_status(port, "ok")
        load(port, _PATHS, seconds=1.0)

        def run_load() -> None:
            try:
                outcome.append(load(port, _PATHS, seconds=12.0))
            except RuntimeError as error:
                outcome.append(error)

        client = threading.Thread(target=run_load)
        client.start()
        time.sleep(3.0)
        replica.kill()
        time.sleep(3.0)
        replica.start()
        started = time.monotonic()
        _wait_for_status(port, "ok")
        returned = time.monotonic() - started
        client.join()
    (reads,) = outcome
    if isinstance(reads, Exception):
        return {"missing or failed": 1, "failure": str(reads)[:300]}
    return {
        "missing or failed": 0,
        "killed": {
            "reads": len(reads.times),
            "slowest_ms": round(1000 * reads.percentile(100)),
            "up to date after the start, s": round(returned, 2),
        },
    }


def _wait_for_status(port: int, status: str) -> None:
    deadline = time.monotonic() + 60.0
    while True:
        connection = open_connection(port)
        _, answer = fetch("/readyz", connection)
        connection.close()
        if orjson.loads(answer.partition(b"\r\n\r\n")[2])["replica"] == status:
            return
        if time.monotonic() > deadline:
            raise RuntimeError(f"the replica is not {status}")
        time.sleep(0.05)
