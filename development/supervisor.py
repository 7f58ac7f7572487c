"""Supervisor for the service's processes in one terminal, which ends with all of them (standard library only).

It has one thread, because it runs code between fork and exec, and because the kernel ends a child with the thread that
started it.
"""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

from config.http.backoff import Backoff
from development.servers.processes import die_with_parent, group_processor_seconds

_STOP_SECONDS = 10.0
_START_BACKOFF = Backoff(first=1, longest=30)
# A process that ran for this long was healthy: its next start isn't delayed.
_HEALTHY_SECONDS = 60.0
_YOUNG_SECONDS = 10.0
# A process that uses this much processor time, in seconds, makes progress.
_PROGRESS_SECONDS = 0.5
_READ_BYTES = 65536


class StartFailedError(Exception):
    """Raised when a process that all others depend on failed to start."""


class _Child:
    """Child process with its output, and the time of its next start."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        is_kept_up: bool,
        stop_seconds: float = 0,
    ) -> None:
        self.name, self._command, self._environment, self.is_kept_up = name, command, environment, is_kept_up
        self.stop_seconds = stop_seconds
        self._early_exits = 0
        self._rest = b""
        self.start_again_at = 0.0
        self.is_muted = False

    def start(self, directory: Path) -> None:
        # A separate process group: the terminal's Ctrl-C reaches only the supervisor, which ends the children in
        # sequence.
        self.process = subprocess.Popen(
            self._command,
            cwd=directory,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            process_group=0,
            preexec_fn=die_with_parent(signal.SIGTERM),
        )
        self.output = cast(IO[bytes], self.process.stdout)
        os.set_blocking(self.output.fileno(), False)
        self._started_at = time.monotonic()

    def read_lines(self) -> list[str]:
        """Return the complete lines received so far. Raises EOFError when the output has ended."""
        chunk = self.output.read(_READ_BYTES)
        if chunk == b"":
            raise EOFError
        *lines, self._rest = (self._rest + (chunk or b"")).split(b"\n")
        return [line.decode(errors="replace") for line in lines if line.strip()]

    def is_young(self) -> bool:
        """Return whether the process may still be starting."""
        return time.monotonic() - self._started_at < _YOUNG_SECONDS

    def end(self, number: signal.Signals) -> None:
        """Send a signal to the process, if it runs."""
        if self.process.poll() is None:
            self.process.send_signal(number)

    def clear_away(self) -> None:
        """Kill the processes that remain in the group."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def delay_start(self) -> float:
        """Schedule the next start; return the delay in seconds, which grows with consecutive early exits."""
        now = time.monotonic()
        if now - self._started_at > _HEALTHY_SECONDS:
            self._early_exits = 0
        self._early_exits += 1
        delay = _START_BACKOFF.delay(self._early_exits)
        self.start_again_at = now + delay
        return delay


class Supervisor:
    """Named processes; each output line is passed to `say` with its process's name."""

    def __init__(
        self, *, directory: Path, say: Callable[[str, str], None], stop_seconds: float = _STOP_SECONDS
    ) -> None:
        self._directory, self._say, self._stop_seconds = directory, say, stop_seconds
        self._running: list[_Child] = []
        self._waiting: list[_Child] = []
        self._selector = selectors.DefaultSelector()

    def start(
        self, name: str, command: Sequence[str], *, environment: Mapping[str, str], stop_seconds: float = 0
    ) -> None:
        """Start a process, and restart it with exponential back-off whenever it ends before `stop`.

        When it is stopped, it has at least `stop_seconds` to end, however long the others take.
        """
        self._open(_Child(name, command, environment, is_kept_up=True, stop_seconds=stop_seconds))

    def run(self, name: str, command: Sequence[str], *, environment: Mapping[str, str]) -> None:
        """Run a process to its end beside the others. Raises StartFailedError if its status is not 0."""
        child = _Child(name, command, environment, is_kept_up=False)
        self._open(child)
        while child in self._running:
            self.attend(seconds=0.05)
        if child.process.returncode != 0:
            raise StartFailedError(f"{name} ended with status {child.process.returncode}")

    def wait_until(self, condition: Callable[[], bool], *, seconds: float, what: str, process: str = "") -> None:
        """Attend to the processes until the condition holds. Raises StartFailedError after `seconds`.

        If `process` names a starting process, the timeout begins again while it makes progress: on a busy machine a
        start may take minutes. An ended process makes no progress.
        """
        deadline, seconds_before = time.monotonic() + seconds, 0.0
        while not condition():
            if time.monotonic() > deadline:
                used_seconds = self._processor_seconds(process)
                if used_seconds < seconds_before + _PROGRESS_SECONDS:
                    raise StartFailedError(f"{what} did not answer within {seconds:.0f} s")
                deadline, seconds_before = time.monotonic() + seconds, used_seconds
            self.attend(seconds=0.1)

    def _processor_seconds(self, name: str) -> float:
        """Return a process's processor seconds if it has not ended since its first start; 0 for any other process."""
        starting = [child for child in self._running if child.name == name and not child.start_again_at]
        return sum(group_processor_seconds(child.process.pid) for child in starting)

    def attend(self, *, seconds: float) -> None:
        """Forward output for at most `seconds`; restart processes that are due."""
        self._pass_on(seconds)
        for child in [child for child in self._running if child.process.poll() is not None]:
            self._close(child)
            if child.is_kept_up:
                status, delay = child.process.returncode, child.delay_start()
                self._say(child.name, f"ended with status {status}; starts again in {delay:.0f} s")
                self._waiting.append(child)
        for child in [child for child in self._waiting if child.start_again_at <= time.monotonic()]:
            self._waiting.remove(child)
            self._open(child)

    def stop(self) -> None:
        """End all processes in reverse start sequence; kill the remaining ones after the supervisor's `stop_seconds`.

        A process with its own `stop_seconds` is killed after these at the earliest.
        """
        self._waiting.clear()
        total_deadline = time.monotonic() + self._stop_seconds
        for child in reversed(self._running.copy()):
            # Celery's processes print meaningless tracebacks if they are interrupted while they start.
            child.is_muted = child.is_young()
            child.end(signal.SIGTERM)
            deadline = max(total_deadline, time.monotonic() + child.stop_seconds)
            while child.process.poll() is None and time.monotonic() < deadline:
                self._pass_on(0.05)
            self._close(child)

    def _open(self, child: _Child) -> None:
        child.start(self._directory)
        self._running.append(child)
        self._selector.register(child.output, selectors.EVENT_READ, child)

    def _close(self, child: _Child) -> None:
        child.clear_away()
        # All output is in the pipe by now: no writer is left.
        if child.output in self._selector.get_map():
            self._pass_on_from(child)
        if child.output in self._selector.get_map():
            self._selector.unregister(child.output)
        child.output.close()
        self._running.remove(child)

    def _pass_on(self, seconds: float) -> None:
        for key, _ in self._selector.select(timeout=seconds):
            self._pass_on_from(key.data)

    def _pass_on_from(self, child: _Child) -> None:
        try:
            for line in child.read_lines():
                if not child.is_muted:
                    self._say(child.name, line)
        except EOFError:
            self._selector.unregister(child.output)
