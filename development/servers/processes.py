"""Processes that end with their parent, even if the parent is killed; file locks, process ids and free ports."""

import ctypes
import fcntl
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_HOST = "127.0.0.1"
# Above most servers' ports, and below Linux's client ports: a client could hold the port when a server starts.
_PORTS = range(20_000, 32_768)
_PORT_ATTEMPTS = 100
_port_claims: list[socket.socket] = []


def free_port(port_hint: int = 0) -> int:
    """Return `port_hint`, or another free TCP port if a program listens on it or a process has claimed it.

    A UDP socket on the same port claims it while this process lives, since its server begins to listen later.
    Raises OSError.
    """
    candidates = (secrets.choice(_PORTS) for _ in range(_PORT_ATTEMPTS))
    for port in (port_hint, *candidates) if port_hint else candidates:
        claim = socket.socket(type=socket.SOCK_DGRAM)
        with socket.socket() as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((_HOST, port))
            claim.bind((_HOST, port))
            _port_claims.append(claim)
            return port
        claim.close()
    raise OSError("no port is free")


def die_with_parent(number: signal.Signals) -> Callable[[], None]:
    """Return a `preexec_fn`: the kernel signals the child when the thread that started it ends (Linux only).

    It must run after the user has changed, which resets the setting. On other systems it does nothing: the next start
    stops processes that a killed parent left running.
    """
    parent = os.getpid()

    def set_signal() -> None:
        if sys.platform != "linux":
            return
        call_libc("prctl", _PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent:
            # The parent ended before the setting took effect.
            os._exit(1)

    return set_signal


def end_with_parent(number: signal.Signals) -> None:
    """Make the kernel signal this process when the thread that started it ends (Linux only)."""
    if sys.platform != "linux":
        return
    parent = os.getppid()
    call_libc("prctl", _PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != parent:
        # The parent ended before the setting took effect.
        os.kill(os.getpid(), number)


def call_libc(name: str, *arguments: object) -> None:
    """Call a C library function that returns 0 on success; raise OSError with its errno otherwise."""
    if getattr(_LIBC, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def is_locked(path: Path) -> bool:
    """Return whether a process holds the file's lock exclusively."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def is_running(pid: int, *, command_holds: str) -> bool:
    """Return whether the process runs and its command line contains the text: its id may have been reused."""
    try:
        os.kill(pid, 0)
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except (ProcessLookupError, PermissionError):
        return False
    except FileNotFoundError:
        # Without /proc, as on macOS, only the id can be checked; on Linux the process has just ended.
        return sys.platform != "linux"
    return command_holds in command


def stop_process(pid: int, *, command_holds: str, first: signal.Signals, seconds: float) -> None:
    """Send the first signal, wait until the process has ended, and kill it after `seconds`."""
    for number, timeout in ((first, seconds), (signal.SIGKILL, 5.0)):
        if not is_running(pid, command_holds=command_holds):
            return
        os.kill(pid, number)
        deadline = time.monotonic() + timeout
        while is_running(pid, command_holds=command_holds) and time.monotonic() < deadline:
            time.sleep(0.02)


def group_processor_seconds(group: int) -> float:
    """Return a process group's processor seconds, including ended children; 0 without /proc."""
    ticks = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        # The process may have ended meanwhile.
        with suppress(FileNotFoundError, ProcessLookupError):
            # After the name, which may contain anything: state, parent, group; from the twelfth on the times.
            fields = file.read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[2]) == group:
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")
