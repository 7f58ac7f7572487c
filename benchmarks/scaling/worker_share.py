"""Index requests by hash with one worker and with two, and with two while one is killed."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import psutil

from benchmarks.scaling.simulated_chains import fetch_rows, missing_launches, run_chains
from config.environment.variables import BASE_DIR
from tests.processes.service_processes import Service, service
from tests.simulator import Traffic

_BLOCKS, _ROUNDS = 300, 2
_TRAFFIC = Traffic(launches=1.0, events=0.0, legacy=0.0, reverted=0.0)
_TIMEOUT_SECONDS = 300.0
_LEASE_SECONDS = "5"
_ENQUEUE = """
import datetime, json, sys, django; django.setup()
from django.conf import settings; from django.utils import timezone
from tokens.indexing.tasks import enqueue_index_request; from tokens.models import IndexRequest, Token
Token.objects.all().delete(); IndexRequest.objects.all().delete()
requests = [tuple(each) for each in json.load(sys.stdin)]
due = timezone.now() + datetime.timedelta(seconds=settings.INDEX_LEASE_SECONDS)
IndexRequest.objects.bulk_create(IndexRequest(chain_id=chain, tx_hash=tx, due_at=due) for chain, tx in requests)
for chain, tx in requests: enqueue_index_request(chain, tx)
"""


def measure_workers() -> dict[str, Any]:
    """Return requests a second for one worker and for two, and the outcome with a killed one."""
    with run_chains(1, blocks=_BLOCKS, traffic=_TRAFFIC) as chains:
        requests = [
            (chains[0].chain_id, entry.hash)
            for block in chains[0].blocks
            for entry in block.transactions
            if entry.succeeded and entry.launches
        ]
        # In turn, and each one's better round: other work on the machine slows both.
        rounds = [(_run(requests, workers=1), _run(requests, workers=2)) for _ in range(_ROUNDS)]
        one, two = (min(each, key=lambda run: run["seconds"]) for each in zip(*rounds, strict=True))
        killed = _run(requests, workers=2, kills=True)
        missing = missing_launches(chains, up_to=[chains[0].head.number])
    return {
        "requests": len(requests),
        "processes of a worker": 1,
        "one worker": one,
        "two workers": two,
        "two workers, one killed halfway": killed,
        "missing or failed": missing,
    }


def _run(requests: Sequence[tuple[int, str]], *, workers: int, kills: bool = False) -> dict[str, float]:
    """Have the workers index all requests."""
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "development.setting_overrides",
        "OVERRIDE_INDEX_LEASE_SECONDS": _LEASE_SECONDS,
        "WORKER_PROCESSES": "1",
        "LOG_LEVEL": "ERROR",
    }
    with ExitStack() as stack:
        running = [stack.enter_context(service("worker", environment)) for _ in range(workers)]
        stack.enter_context(service("beat", environment))
        command, text = [sys.executable, "-c", _ENQUEUE], json.dumps(requests)
        subprocess.run(command, cwd=BASE_DIR, env=environment, input=text, text=True, check=True)
        _wait_for_indexed(1)
        before, started = _cpu(running), time.monotonic()
        if kills:
            _wait_for_indexed(len(requests) // 2)
            running[0].kill()
        _wait_for_indexed(len(requests))
        seconds = time.monotonic() - started
        used = None if kills else (_cpu(running) - before) * 1000 / len(requests)
    outcome = {"seconds": round(seconds, 1), "requests a second": round(len(requests) / seconds, 1)}
    return outcome if used is None else outcome | {"CPU ms a request": round(used, 1)}


def _wait_for_indexed(count: int) -> None:
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    statement = "SELECT count(*) FROM tokens_indexrequest WHERE status IN ('indexed', 'confirmed')"
    while int(str(fetch_rows(statement)[0][0])) < count:
        if time.monotonic() > deadline:
            raise RuntimeError(f"the workers did not index {count} requests")
        time.sleep(0.05)


def _cpu(workers: Sequence[Service]) -> float:
    """Return the CPU seconds for the workers and their processes."""
    processes = [psutil.Process(worker.process.pid) for worker in workers]
    family = [*processes, *(child for process in processes for child in process.children(recursive=True))]
    return sum(sum(process.cpu_times()[:2]) for process in family)
