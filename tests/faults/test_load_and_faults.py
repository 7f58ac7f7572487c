"""`make load-and-faults` in small: each fault kind once, without a failure or a loss."""

import os
import tempfile
from pathlib import Path

import pytest

from tests.chaos.harness import Span
from tests.faults.fault_run import FaultPlan, run
from tests.faults.fault_table import FaultRow, count_by_fault, recovery_seconds
from tests.faults.paced_load import Sample
from tests.faults.process_memory import Growth, growth_of, proportional_set_size
from tests.processes.own_environment import database_url
from tests.processes.template_database import template

# Disk faults need root.
FAULTS = 16 if os.geteuid() == 0 else 14
EVERY = 3.0
PLAN = FaultPlan(
    tokens=200,
    launches=10,
    trades=1,
    interval=0.5,
    chain_interval=0.5,
    minutes=FAULTS * EVERY / 60,
    every=EVERY,
    lasting=1.5,
    ceiling_seconds=2.0,
    timeout=240.0,
)


@pytest.mark.slow
def test_faults_under_load_fail_no_request_and_lose_nothing():
    # Not in pytest's directories: a socket's path may have 107 characters at most.
    with tempfile.TemporaryDirectory() as directory:
        result = run(Path(directory), PLAN, source=database_url(template()))
    assert result.wrong == []
    figures = result.figures
    assert set(result.faults.values()) == {1} and len(figures["faults"]) == FAULTS
    assert figures["chain"]["tokens"] == PLAN.launches + figures["deployments"]
    assert figures["deployments"] and figures["events"] and figures["deliveries"] >= figures["events"]
    assert figures["memory"].keys() >= {"web", "web standby", "worker", "follower", "events", "stream", "beat"}
    assert figures["ceiling"] == 2 * figures["rate"] > 0


def response(kind, ended, status, is_refusal):
    return Sample(kind, ended, ended, status, is_refusal, "")


def test_the_table_counts_by_fault_and_finds_the_slowest_recovery():
    spans = [Span("A", 10.0, 12.0), Span("B", 20.0, 20.0), Span("A", 30.0, 31.0)]
    reads = [
        response("read", 5.0, 500, False),
        response("read", 11.0, 503, True),
        response("read", 12.5, 0, False),
        *(response("read", 13.0 + number / 10, 200, False) for number in range(5)),
        response("read", 21.0, 200, False),
        response("read", 35.0, 503, True),
    ]
    rows = count_by_fault(spans, [*reads, response("write", 12.1, 200, False)], until=40.0)
    assert rows["A"] == FaultRow(
        times=2,
        seconds=2.0,
        requests=9,
        refused=2,
        failed=1,
        recovery=1.0,
        slowest_kind="read",
        unrecovered=["read"],
    )
    assert rows["B"] == FaultRow(times=1, requests=1, slowest_kind="read")


def test_a_recovery_begins_with_five_successes():
    statuses = [503, 200, 200, 200, 200, 502, 200, 200, 200, 200, 200, 502]
    responses = [response("read", float(number), status, status == 503) for number, status in enumerate(statuses)]
    assert recovery_seconds(responses, 0.0) == 6.0
    assert recovery_seconds(responses[:5], 0.0) == 1.0
    assert recovery_seconds(responses[1:5], 0.0) == 0.0
    assert recovery_seconds(responses[:1], 0.0) is None


def test_the_growth_of_memory_is_that_of_medians_and_of_a_line():
    samples = [(3600.0 * number, 100.0 + number) for number in range(8)]
    assert growth_of(samples) == Growth(first=100.5, last=106.5, slope=1.0)
    size = proportional_set_size(os.getpid())
    assert size and size > 10
