"""A program's costs while it works: time, its processes' CPU and memory, and PostgreSQL's CPU beside it."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg

from benchmarks.lists import dataset
from development.servers.processes import die_with_parent

_LOOK_SECONDS = 0.05


class ProgramFailedError(Exception):
    """A program that ended with an error, too early, or timed out; the text has its output's end."""


@dataclass(frozen=True, kw_only=True)
class Costs:
    """A program's costs from its start until it was done."""

    seconds: float
    # User and system time in all its processes.
    cpu_seconds: float
    # The most resident memory that its processes ever had, added up.
    peak_mb: float
    database_cpu_seconds: float


def run_measured(
    command: Sequence[str],
    *,
    directory: Path,
    environment: Mapping[str, str],
    log: Path,
    done: Callable[[], bool] | None = None,
    limit_seconds: float = 3600.0,
) -> Costs:
    """Run a program until it ends, or until `done`, which then ends it; its output goes to the log.

    Raises ProgramFailedError.
    """
    before = database_cpu()
    with log.open("wb") as output, _running(command, directory, environment, output) as process:
        started, watched, peaks = time.monotonic(), psutil.Process(process.pid), {}
        cpu, code = 0.0, None
        while code is None and not (done and done()):
            if time.monotonic() - started > limit_seconds:
                raise ProgramFailedError(_describe(f"it took more than {limit_seconds:.0f} s", log))
            cpu = max(cpu, _look(watched, peaks))
            code, ended_with = _wait(process, _LOOK_SECONDS)
        seconds = time.monotonic() - started
        if code is None:
            cpu = max(cpu, _look(watched, peaks))
        elif code or done:
            raise ProgramFailedError(_describe(f"it ended with code {code}", log))
        else:
            cpu = ended_with
    return Costs(
        seconds=seconds,
        cpu_seconds=cpu,
        peak_mb=sum(peaks.values()) / 1024,
        database_cpu_seconds=database_cpu() - before,
    )


def database_cpu() -> float:
    """Return the CPU seconds for all processes in the benchmarks' server so far, those that ended included."""
    with dataset.connect("postgres") as connection:
        return server_cpu(connection)


def server_cpu(connection: "psycopg.Connection[tuple[object, ...]]") -> float:
    """Return the CPU seconds for all processes in this connection's server so far."""
    (pid,) = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
    assert isinstance(pid, int)
    postmaster = psutil.Process(pid).parent()
    assert postmaster is not None
    times = postmaster.cpu_times()
    total = times.user + times.system + times.children_user + times.children_system
    for child in postmaster.children(recursive=True):
        try:
            of_child = child.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += of_child.user + of_child.system
    return float(total)


@contextmanager
def _running(
    command: Sequence[str], directory: Path, environment: Mapping[str, str], output: object
) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(
        command,
        cwd=directory,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=output,  # type: ignore[call-overload]
        stderr=subprocess.STDOUT,
        preexec_fn=die_with_parent(signal.SIGTERM),
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> tuple[int | None, float]:
    """Return the exit code when a process ended, and its and its children's CPU; None and 0 while it runs."""
    deadline = time.monotonic() + seconds
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_utime + usage.ru_stime
        if time.monotonic() > deadline:
            return None, 0.0
        time.sleep(0.005)


def _look(process: psutil.Process, peaks: dict[int, int]) -> float:
    """Update a process's and its children's peaks in kB; return their CPU seconds so far."""
    total = 0.0
    try:
        for one in (process, *process.children(recursive=True)):
            # Not getrusage's maximum: that begins with the parent process's memory.
            for line in Path(f"/proc/{one.pid}/status").read_text(encoding="utf-8").splitlines():
                if line.startswith("VmHWM:"):
                    peaks[one.pid] = int(line.split()[1])
            times = one.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    except (psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
        # It ended while it was read.
        return total
    return total


def _describe(what: str, log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-12:]
    tail = "\n  ".join(lines) or "(it said nothing)"
    return f"{what}; the end of {log}:\n  {tail}"
