"""Signals that stop a command, also while an earlier signal's handler runs."""

import subprocess
import sys

import pytest

from config.environment.variables import BASE_DIR

# A command's status when it exceeds its grace period.
_STATUS = 7
_IMPORTS = """
import signal
import sys
from threading import Event
from config.processes.stop_signals import stopped_by_signals
"""
# The profiler counts the handler's calls and returns. Each round sends the second signal at a later one.
_SECOND_SIGNAL_AT_EACH_CALL = """
second, last = 1, 2
while second <= last:
    last = 0
    def count(*_):
        global last
        last += 1
        if last == second:
            signal.raise_signal(signal.SIGTERM)
    with stopped_by_signals(status=1, grace_seconds=60) as stop:
        sys.setprofile(count)
        signal.raise_signal(signal.SIGTERM)
        sys.setprofile(None)
        stop.wait()
    second += 1
"""


def run_program(text: str) -> "subprocess.CompletedProcess[str]":
    """Run these lines in their own process."""
    return subprocess.run(
        [sys.executable, "-c", _IMPORTS + text], cwd=BASE_DIR, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_second_signal_at_any_step_of_the_handler_changes_nothing():
    done = run_program(_SECOND_SIGNAL_AT_EACH_CALL)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_block_that_does_not_end_exits_after_the_grace_period():
    done = run_program(f"""
with stopped_by_signals(status={_STATUS}, grace_seconds=0.1):
    signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGINT)
    Event().wait()
""")
    assert done.returncode == _STATUS
    assert done.stderr.splitlines() == [
        "stopped without waiting for open requests; the same command continues from there"
    ]


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_sets_the_event_and_its_former_handler_returns(name):
    done = run_program(f"""
before = signal.getsignal(signal.{name})
with stopped_by_signals(status={_STATUS}, grace_seconds=60) as stop:
    signal.raise_signal(signal.{name})
    stop.wait()
assert signal.getsignal(signal.{name}) is before
""")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_end_of_a_block_without_a_signal_does_not_set_the_event():
    done = run_program(f"""
with stopped_by_signals(status={_STATUS}) as stop:
    pass
assert not stop.is_set()
""")
    assert (done.returncode, done.stderr) == (0, "")
