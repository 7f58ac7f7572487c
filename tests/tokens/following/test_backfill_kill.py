"""Tests of killed and stopped backfills: the next run resumes where it was, without a gap and without a duplicate."""

import random
import signal
import subprocess
from contextlib import AbstractContextManager

import pytest

from tests.nodes.faulty_node import FaultyNode
from tests.nodes.following_chain import final, install, wrong_rows
from tests.processes.service_processes import managing
from tests.processes.waiting import wait_for
from tests.simulator import Faults, SimulatedChain, Traffic, serve
from tokens.models import Coverage, Token

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

KILLED = 3


def backfill(
    chain: SimulatedChain, environment: dict[str, str], *more: str
) -> AbstractContextManager["subprocess.Popen[str]"]:
    """Start the command as a process, which is killed at the end where it still runs."""
    words = ["backfill", f"--chain={chain.chain_id}", "--from=0", f"--to={final(chain)}", *more]
    return managing(words, environment)


def done_to() -> int:
    """Return the run's progress; -1 before it begins."""
    return Coverage.objects.values_list("followed_to", flat=True).first() or -1


@pytest.fixture
def chain():
    grown = SimulatedChain(31, traffic=Traffic(launches=1.0, events=0.8, noise=0.2))
    grown.mine(250)
    return grown


@pytest.fixture
def settings_at(chain, settings, forget_chains, tmp_path, service_environment):
    """Return a function that installs the chain with a node, and returns the environment of a backfill there."""

    def install_at(url: str) -> dict[str, str]:
        install(chain, url, settings=settings, forget=forget_chains, directory=tmp_path)
        ranges = {"OVERRIDE_FOLLOW_RANGE_BLOCKS": "4", "OVERRIDE_FOLLOW_LONGEST_RANGE_BLOCKS": "6"}
        chains = {f"RPC_URLS_{chain.chain_id}": url, "CHAINS_FILE": ",".join(settings.CHAINS_FILES)}
        return service_environment | chains | ranges

    return install_at


def test_no_launch_is_lost_or_doubled_by_kills_and_stops_at_random(chain, settings_at):
    rng = random.Random(3)
    # Each response takes a while, so that a process always has something in progress.
    with serve(chain, faults=Faults(hangs=1.0, hang_seconds=0.03)) as node:
        environment = settings_at(node.url)
        ids: set[int] = set()
        # Kills, and then a stop, which ends after the range in work.
        for number, status in ((signal.SIGKILL, -signal.SIGKILL),) * KILLED + ((signal.SIGTERM, 1),):
            with backfill(chain, environment) as process:
                before, further = done_to(), rng.randrange(10, 30)
                wait_for(lambda to=before + further: done_to() >= to)
                process.send_signal(number)
                assert process.wait(120) == status
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


@pytest.mark.parametrize("hanging", ["eth_getBlockByNumber", "eth_getLogs", "eth_getBlockReceipts"])
def test_a_stop_waits_for_no_node(chain, settings_at, hanging):
    """Check a node that hangs at the start, while the history is read, and during the verification."""
    with serve(chain) as honest, FaultyNode(honest.url).running() as node, node.gate(hanging) as gate:
        environment = settings_at(node.url) | {"RPC_TIMEOUT_SECONDS": "120"}
        with backfill(chain, environment, "--verify") as process:
            gate.wait()
            process.send_signal(signal.SIGINT)
            _, log = process.communicate(timeout=60)
            assert process.returncode == 1
            assert log.endswith("the same command continues from there\n") and "Traceback" not in log
        assert wrong_rows(chain, to=done_to()) == []
        gate.open()
        with backfill(chain, environment, "--verify") as process:
            assert process.wait(120) == 0
    assert wrong_rows(chain, to=final(chain)) == []
