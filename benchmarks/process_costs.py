"""A program's costs while it works: time, its processes' CPU and memory, and PostgreSQL's CPU beside it."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg

from benchmarks.lists import dataset
from development.servers.processes import die_with_parent

_POLL_SECONDS = 0.02


class ProgramFailedError(Exception):
    """A program that ended with an error; the text has its output's end."""


@dataclass(frozen=True, kw_only=True)
class Costs:
    """A program's costs from its start until it was done."""

    seconds: float
    # User and system time in all its processes.
    cpu_seconds: float
    # The most resident memory that its processes ever had, added up.
    peak_mb: float
    database_cpu_seconds: float


def run_measured(command: Sequence[str], *, directory: Path, environment: Mapping[str, str], log: Path) -> Costs:
    """Run a program until it ends; its output goes to the log. Raises ProgramFailedError."""
    before, started, peaks = database_cpu(), time.monotonic(), dict[int, int]()
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command,
            cwd=directory,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=die_with_parent(signal.SIGTERM),
        ) as process,
    ):
        watched = psutil.Process(process.pid)
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            _update_peaks(watched, peaks)
            time.sleep(_POLL_SECONDS)
        seconds = time.monotonic() - started
        _, status, usage = ended
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        tail = "\n  ".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-12:])
        raise ProgramFailedError(f"it ended with code {process.returncode}; the end of {log}:\n  {tail}")
    return Costs(
        seconds=seconds,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
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


def _update_peaks(process: psutil.Process, peaks: dict[int, int]) -> None:
    """Update a process's and its children's peaks in kB."""
    try:
        for each in (process, *process.children(recursive=True)):
            # Not getrusage's maximum: that begins with the parent process's memory.
            for line in Path(f"/proc/{each.pid}/status").read_text(encoding="utf-8").splitlines():
                if line.startswith("VmHWM:"):
                    peaks[each.pid] = int(line.split()[1])
    except (psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
        # It ended while it was read.
        return
