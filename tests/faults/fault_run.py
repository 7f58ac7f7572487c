"""A service's run at half its ceiling while something ends or stalls at intervals, and its check."""

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import psycopg

from development.standins.market_server import MarketStandIn
from tests.faults.fault_kinds import Fault, all_faults, server_disks
from tests.faults.fault_table import FaultRow, Response, Span, count_by_fault
from tests.faults.paced_load import LoadReport, PacedLoad, Targets, paced_load
from tests.faults.process_memory import Growth, MemoryWatch
from tests.processes.waiting import wait_for
from tests.upgrade.former_version import this_version
from tests.upgrade.loaded_service import (
    LoadedService,
    LoadPlan,
    chain_at_work,
    collect_evidence,
    finish_load,
    loaded_service,
    streams_open,
)
from tests.upgrade.upgrade_check import judge

# Restart delay, as in deploy/systemd.
_RESTART_SECONDS = 2.0
_TICK_SECONDS = 0.05
# Sample tokens' chain with market data from the stand-in.
_PROVIDER_CHAIN = 8453
_TOKENS = "SELECT chain_id, contract_address FROM tokens_token WHERE NOT unindexed ORDER BY id DESC LIMIT 1000"
_MEMORY_SAMPLES = 300
# Memory that does not count as a growth: this share, or these MB.
_FLAT_SHARE, _FLAT_MB = 0.1, 10.0


@dataclass(frozen=True, kw_only=True)
class FaultPlan(LoadPlan):
    """A run's quantities."""

    # Faults in all, seconds between two begins, and the duration for those that last.
    faults: int
    every: float
    lasting: float
    # Seconds for measuring the ceiling, and its clients.
    ceiling_seconds: float
    ceiling_clients: int = 8
    seed: int = 1


@dataclass
class FaultOutcome:
    """A run's outcome."""

    ceiling: float = 0.0
    rate: float = 0.0
    # Requests that no client was free to send in time.
    dropped: int = 0
    faults: dict[str, FaultRow] = field(default_factory=dict)
    # Responses by status at the proxy; successes by kind.
    statuses: dict[str, int] = field(default_factory=dict)
    requests: dict[str, int] = field(default_factory=dict)
    # 95th and 99.9th percentile and maximum seconds from the time that a request was due to its response.
    latency: tuple[float, float, float] = (0.0, 0.0, 0.0)
    memory: dict[str, Growth] = field(default_factory=dict)
    grown: list[str] = field(default_factory=list)
    chain: dict[str, Any] = field(default_factory=dict)
    deployments: int = 0
    events: int = 0
    deliveries: int = 0
    reconnects: int = 0
    seconds: float = 0.0
    # What failed, was lost, or was made twice.
    wrong: list[str] = field(default_factory=list)

    def worst_recovery(self) -> float:
        """Return the longest recovery in seconds; infinity if a request kind did not recover."""
        if any(row.unrecovered for row in self.faults.values()):
            return float("inf")
        return max(row.recovery for row in self.faults.values())


def run(place: Path, plan: FaultPlan) -> FaultOutcome:
    """Measure the ceiling, hold half under the planned faults, and check the result.

    Only root can make disks full; without it these faults are left out.
    """
    started, outcome = time.monotonic(), FaultOutcome()
    with ExitStack() as stack:
        disks = server_disks(place) if os.geteuid() == 0 else None
        for disk in disks or ():
            stack.enter_context(disk.mounted())
        market = stack.enter_context(MarketStandIn())
        settings = {"MARKET_PROVIDER_CHAINS": str(_PROVIDER_CHAIN), "MARKET_BASE_URL": market.url}
        ground = stack.enter_context(loaded_service(place, plan, this_version(), settings))
        ground.service.start_standby("web", this_version())
        streams = stack.enter_context(streams_open(ground, plan))
        load = stack.enter_context(paced_load())
        faults = all_faults(ground, market, disks, random.Random(plan.seed))
        spans, report, memory = _hold(ground, plan, load, faults, outcome)
        with ThreadPoolExecutor(1) as pool:
            finish = pool.submit(finish_load, ground, streams, plan)
            _supervise(ground, finish.done)
            unfinished = finish.exception()
        evidence = collect_evidence(ground, streams)
        # The fault table is not lost with a run that has no end.
        outcome.wrong = [str(unfinished)] if unfinished else []
        outcome.wrong += [*ground.service.proxy.failures(), *_failures(report), *judge(evidence)]
        _count(outcome, ground, report, spans)
        _judge_memory(outcome, memory, since=spans[0].began)
        outcome.chain, outcome.events = evidence.chain, evidence.events
        outcome.deliveries = len(evidence.inbox.receipts)
        outcome.reconnects = sum(stream.connections - 1 for stream in streams)
    outcome.seconds = round(time.monotonic() - started, 1)
    return outcome


def _hold(
    ground: LoadedService, plan: FaultPlan, load: PacedLoad, faults: dict[str, Fault], outcome: FaultOutcome
) -> tuple[list[Span], LoadReport, MemoryWatch]:
    """Load the service, with the faults; return their times, the requests, and the processes' memory."""
    memory = MemoryWatch(lambda: ground.service.running)
    watching = memory.watching(max(1.0, plan.faults * plan.every / _MEMORY_SAMPLES))
    with ground.clients.at_work(readers=plan.readers), chain_at_work(ground, plan) as chain, watching:
        chain.share = 1 / (plan.faults + 1)
        wait_for(lambda: ground.clients.indexed)
        targets = _targets(ground)
        outcome.ceiling = load.measure_ceiling(targets, clients=plan.ceiling_clients, seconds=plan.ceiling_seconds)
        outcome.rate = outcome.ceiling / 2
        load.begin(targets, rate=outcome.rate)
        spans, begin = [], time.monotonic() + plan.every / 2
        for number, (name, fault) in zip(range(plan.faults), cycle(faults.items()), strict=False):
            _supervise(ground, lambda due=begin + number * plan.every: time.monotonic() >= due)
            spans.append(_cause(ground, name, fault, seconds=plan.lasting))
            chain.share = (number + 2) / (plan.faults + 1)
        _supervise(ground, lambda: time.monotonic() >= begin + plan.faults * plan.every)
        report = load.finish()
    return spans, report, memory


def _cause(ground: LoadedService, name: str, fault: Fault, *, seconds: float) -> Span:
    began = time.monotonic()
    fault.begin()
    try:
        if fault.lasts:
            _supervise(ground, lambda: time.monotonic() >= began + seconds)
    finally:
        fault.end()
    return Span(name, began, time.monotonic())


def _supervise(ground: LoadedService, is_over: Callable[[], bool]) -> None:
    """Restart ended processes until the condition is true. Not in a thread, whose end would end its processes."""
    while not is_over():
        ground.service.restart_ended(_RESTART_SECONDS)
        time.sleep(_TICK_SECONDS)


def _targets(ground: LoadedService) -> Targets:
    """Return tokens and launches that the service has now."""
    with psycopg.connect(ground.database_url) as connection:
        tokens = connection.execute(_TOKENS).fetchall()
    return Targets(
        port=ground.service.proxy.port,
        tokens=tokens,
        hashes=list(ground.clients.indexed),
        key=dict(ground.clients.key),
    )


def _failures(report: LoadReport) -> list[str]:
    return [
        f"{sample.kind}: {sample.status} {sample.error}"
        for sample in report.samples
        if sample.status != 200 and not sample.is_refusal
    ]


def _count(outcome: FaultOutcome, ground: LoadedService, report: LoadReport, spans: list[Span]) -> None:
    responses = [Response(*sample[:1], *sample[2:5]) for sample in report.samples]
    # Other responses than 503 with Retry-After are in the proxy's log.
    responses += [Response(*entry, entry[2] == 503) for entry in ground.clients.responses]
    outcome.faults = count_by_fault(spans, responses, until=max(response.ended for response in responses))
    outcome.requests = dict(Counter(response.kind for response in responses if response.status == 200))
    outcome.statuses, outcome.dropped = ground.service.proxy.statuses(), report.dropped
    outcome.deployments = len(ground.clients.partner.answers.orders)
    times = sorted(sample.ended - sample.due for sample in report.samples if sample.status == 200)
    places = (int(len(times) * 0.95), int(len(times) * 0.999), len(times) - 1)
    outcome.latency = (round(times[places[0]], 3), round(times[places[1]], 3), round(times[places[2]], 3))


def _judge_memory(outcome: FaultOutcome, memory: MemoryWatch, *, since: float) -> None:
    outcome.memory = memory.growth(since=since)
    outcome.grown = [
        f"{name} grew from {growth.first} to {growth.last} MB"
        for name, growth in outcome.memory.items()
        if growth.last - growth.first > max(_FLAT_MB, growth.first * _FLAT_SHARE)
    ]
