"""Tests of killed backfills: the next run resumes where it was, without a gap and without a duplicate."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from config.environment.variables import BASE_DIR
from development.servers.processes import die_with_parent
from tests.nodes.following_chain import final, install, wrong_rows
from tests.processes.waiting import wait_for
from tests.simulator import Faults, SimulatedChain, Traffic, serve
from tokens.models import Coverage, Token

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

KILLED = 3


@contextmanager
def backfill(chain: SimulatedChain, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start the command as a process, which is killed at the end where it still runs."""
    words = ["backfill", f"--chain={chain.chain_id}", "--from=0", f"--to={final(chain)}"]
    process = subprocess.Popen(
        [sys.executable, "manage.py", *words],
        cwd=BASE_DIR,
        env=environment,
        start_new_session=True,
        preexec_fn=die_with_parent(signal.SIGKILL),
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def done_to() -> int:
    """Return the run's progress; -1 before it begins."""
    return Coverage.objects.values_list("followed_to", flat=True).first() or -1


@pytest.fixture
def chain():
    grown = SimulatedChain(31, traffic=Traffic(launches=1.0, events=0.8, noise=0.2))
    grown.mine(250)
    return grown


def test_no_launch_is_lost_or_doubled_by_kills_at_random(chain, settings, forget_chains, tmp_path, service_environment):
    rng = random.Random(3)  # noqa: S311 - the same each time
    # Each response takes a while, so that a process always has something in progress.
    with serve(chain, faults=Faults(hangs=1.0, hang_seconds=0.03)) as node:
        install(chain, node.url, settings=settings, forget=forget_chains, place=tmp_path)
        environment = service_environment | {
            f"RPC_URLS_{chain.chain_id}": node.url,
            "CHAINS_FILE": ",".join(settings.CHAINS_FILES),
            "FOLLOW_RANGE_BLOCKS": "4",
            "FOLLOW_LONGEST_RANGE_BLOCKS": "6",
        }
        ids: set[int] = set()
        for _ in range(KILLED):
            with backfill(chain, environment) as process:
                before, further = done_to(), rng.randrange(10, 40)
                wait_for(lambda to=before + further: done_to() >= to)
                process.kill()
                process.wait()
            at = done_to()
            # Everything up to the progress is written, and nothing else is.
            assert wrong_rows(chain, to=at) == []
            ids |= set(Token.objects.values_list("pk", flat=True))
        assert at < final(chain)
        with backfill(chain, environment) as process:
            assert process.wait(120) == 0
    assert wrong_rows(chain, to=final(chain)) == []
    # Nothing was written a second time under another id.
    assert ids <= set(Token.objects.values_list("pk", flat=True))
    assert done_to() == final(chain)


def test_a_backfill_that_is_signalled_ends_after_the_range_in_work(
    chain, settings, forget_chains, tmp_path, service_environment
):
    with serve(chain, faults=Faults(hangs=1.0, hang_seconds=0.03)) as node:
        install(chain, node.url, settings=settings, forget=forget_chains, place=tmp_path)
        environment = service_environment | {
            f"RPC_URLS_{chain.chain_id}": node.url,
            "CHAINS_FILE": ",".join(settings.CHAINS_FILES),
            "FOLLOW_RANGE_BLOCKS": "4",
            "FOLLOW_LONGEST_RANGE_BLOCKS": "6",
        }
        with backfill(chain, environment) as process:
            wait_for(lambda: done_to() >= 20)
            process.send_signal(signal.SIGTERM)
            assert process.wait(120) == 1
    assert done_to() < final(chain)
    assert wrong_rows(chain, to=done_to()) == []
