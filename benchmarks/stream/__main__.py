"""The stream's process with 1,000 clients and 10 events a second, and the list's latency beside it.

    python -m benchmarks.stream [--seconds 60] [--rounds 5]

The process `events` publishes: times are from an event's storage to the client. Among the stream's own figures all
clients get all events. The list is measured in turns without clients, with idle ones, whose filter no event passes,
with those that get all, and with the floor's figures, by a bare loop that sends as many bytes to as many clients; there
the clients run at idle priority. Exits with code 1 beyond a limit.
"""

import sys
import time
from statistics import median
from typing import Any

import psutil

from benchmarks.harness import Limits, keep, parse_quantities
from benchmarks.http_load import Load, load, percentile
from benchmarks.lists import dataset
from benchmarks.processes import web_server
from benchmarks.stream.stream_load import CLIENTS, EVENTS_PER_SECOND, EventWriter, bare_sender, stream_clients
from tests.processes.service_processes import service
from tests.processes.stream_clients import StreamProcess, stream_process

_TOKENS = 20_000
_PATHS = [f"/api/tokens?limit=10&offset={offset}" for offset in range(100)]
# Seconds for one list load.
_LIST_SECONDS = 15.0
# A filter that no event passes.
_NO_EVENT = "?chainId=1"
_SETTINGS = {"STREAM_CLIENTS_PER_ADDRESS": str(CLIENTS)}


def main() -> int:
    """Print and keep all figures; return 1 where one is beyond its limit."""
    options = parse_quantities(__doc__, seconds=60.0, rounds=5)
    dataset.open_server(_TOKENS)
    environment = dataset.environment(_TOKENS)
    with stream_process(environment, **_SETTINGS) as stream, service("events", environment):
        writer = EventWriter(dataset.database_url(_TOKENS))
        try:
            # Until the process `events` has started.
            _wait_for_events(stream)
            figures = _measure_stream(stream, options.seconds) | _measure_list(environment, stream, options.rounds)
        finally:
            writer.stop()
    for name, value in figures.items():
        print(f"{name}: {value}")
    keep("stream", {"clients": CLIENTS, "events a second": EVENTS_PER_SECOND, **figures})
    limits = Limits()
    limits.at_most("PSS", figures["PSS, MiB"], 150, "MiB")
    limits.at_most("processor", figures["% of a core"], 25, "%")
    limits.at_most("event to client, 99th percentile", figures["event to client, p99, ms"], 250, "ms")
    limits.at_most("the list with idle clients", figures["list p99, with idle / without"], 1.1)
    floor = figures["list p99, with a bare loop's / without"]
    limits.at_most("the list with busy clients, to a bare loop's", figures["list p99, with busy / without"] / floor, 1)
    return 0 if limits.are_kept else 1


def _wait_for_events(stream: StreamProcess) -> None:
    """Wait until events pass through."""
    begin = stream.metric("newest_id")
    while stream.metric("newest_id") < begin + 10 * EVENTS_PER_SECOND:
        time.sleep(0.5)


def _measure_stream(stream: StreamProcess, seconds: float) -> dict[str, Any]:
    process = psutil.Process(stream.service.process.pid)
    idle = process.memory_full_info().pss
    with stream_clients(stream.port) as clients:
        before, started, sent = sum(process.cpu_times()[:2]), time.monotonic(), stream.metric("events_sent_total")
        time.sleep(seconds)
        spent, elapsed = sum(process.cpu_times()[:2]) - before, time.monotonic() - started
        sent = stream.metric("events_sent_total") - sent
        memory = process.memory_full_info().pss
        times = clients.close()
    return {
        "PSS without clients, MiB": round(idle / 2**20, 1),
        "PSS, MiB": round(memory / 2**20, 1),
        "% of a core": round(100 * spent / elapsed, 1),
        "events to clients a second": round(sent / elapsed),
        "event to client, p50, ms": round(1000 * percentile(times, 50), 1),
        "event to client, p99, ms": round(1000 * percentile(times, 99), 1),
        "closed as slow": stream.metric("slow_clients_closed_total"),
    }


def _measure_list(environment: dict[str, str], stream: StreamProcess, rounds: int) -> dict[str, Any]:
    found: dict[str, list[Load]] = {"without": [], "with idle": [], "with busy": [], "with a bare loop's": []}
    with web_server(environment, EDGE_CACHE_SECONDS="0") as port:
        load(port, _PATHS, connections=1, seconds=2.0)
        for _ in range(rounds):
            found["without"].append(load(port, _PATHS, connections=1, seconds=_LIST_SECONDS))
            for name, query in (("with idle", _NO_EVENT), ("with busy", "")):
                with stream_clients(stream.port, query, is_background=True):
                    found[name].append(load(port, _PATHS, connections=1, seconds=_LIST_SECONDS))
            with bare_sender() as bare, stream_clients(bare, is_background=True):
                found["with a bare loop's"].append(load(port, _PATHS, connections=1, seconds=_LIST_SECONDS))
    figures: dict[str, Any] = {}
    for percent in (50, 99):
        for name, loads in found.items():
            times = [1000 * each.percentile(percent) for each in loads]
            figures[f"list p{percent} {name} clients, ms"] = round(median(times), 2)
            figures[f"list p{percent} {name} clients, ms, each round"] = [round(each, 2) for each in times]
    for name in list(found)[1:]:
        ratio = figures[f"list p99 {name} clients, ms"] / figures["list p99 without clients, ms"]
        figures[f"list p99, {name} / without"] = round(ratio, 3)
    return figures


if __name__ == "__main__":
    sys.exit(main())
