"""The supervisor of `make run`: how long it waits for a process that is starting."""

import os
import sys
from collections.abc import Iterator

import pytest

from config.environment.variables import BASE_DIR
from development.servers.processes import group_processor_seconds
from development.supervisor import StartFailedError, Supervisor

BUSY, IDLE, FAILING = "while True: pass", "import signal; signal.pause()", "raise SystemExit(1)"


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    running = Supervisor(directory=BASE_DIR, say=lambda name, line: None)
    yield running
    running.stop()


def start(supervisor: Supervisor, code: str) -> None:
    supervisor.start("server", [sys.executable, "-c", code], environment=os.environ)


@pytest.mark.slow
def test_it_waits_for_a_process_that_makes_progress(supervisor: Supervisor) -> None:
    start(supervisor, BUSY)
    [child] = supervisor._running
    # It needs more than the timeout, on any machine.
    supervisor.wait_until(
        lambda: group_processor_seconds(child.process.pid) > 11.0, seconds=10.0, what="the server", process="server"
    )


@pytest.mark.parametrize(("code", "name"), [(IDLE, "server"), (FAILING, "server"), (BUSY, "")])
def test_it_gives_up_without_progress(supervisor: Supervisor, code: str, name: str) -> None:
    start(supervisor, code)
    with pytest.raises(StartFailedError, match="the server did not answer within 1 s"):
        supervisor.wait_until(lambda: False, seconds=1.0, what="the server", process=name)
