"""Processes that end with their parent, however the parent ended."""

import ctypes
import fcntl
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


def die_with_parent(number: signal.Signals) -> Callable[[], None]:
    """A `preexec_fn`: the kernel sends the signal to the child when the thread that started it ends (Linux only).

    It must run after every change of user, because the kernel forgets the request then. Elsewhere than on Linux nothing
    is promised: what a killed parent leaves is stopped by the next start.
    """
    parent = os.getpid()

    def ask() -> None:
        if sys.platform != "linux":
            return
        call_libc("prctl", _PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent:
            # The parent ended before the kernel knew our wish.
            os._exit(1)

    return ask


def end_with_parent(number: signal.Signals) -> None:
    """Have the kernel send this process the signal when the thread that started it ends (Linux only)."""
    if sys.platform != "linux":
        return
    parent = os.getppid()
    call_libc("prctl", _PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != parent:
        # The parent ended before the kernel knew our wish.
        os.kill(os.getpid(), number)


def call_libc(name: str, *arguments: object) -> None:
    """Call a function of the C library that answers 0 on success; raises OSError with its errno."""
    if getattr(_LIBC, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def is_locked(path: Path) -> bool:
    """Whether a process holds the file's lock alone, so that not even a shared one can be had beside it."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def is_running(pid: int, *, command_holds: str) -> bool:
    """Whether a process with this id runs whose command line holds the text: a number alone may be another's by now."""
    try:
        os.kill(pid, 0)
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except (ProcessLookupError, PermissionError):
        return False
    except FileNotFoundError:
        # Without /proc, as on macOS, the number is all there is; on Linux the process ended just now.
        return sys.platform != "linux"
    return command_holds in command


def stop(pid: int, *, command_holds: str, first: signal.Signals, seconds: float) -> None:
    """Send a signal, wait until the process is gone, and kill it where it takes longer than the seconds."""
    for number, patience in ((first, seconds), (signal.SIGKILL, 5.0)):
        if not is_running(pid, command_holds=command_holds):
            return
        os.kill(pid, number)
        deadline = time.monotonic() + patience
        while is_running(pid, command_holds=command_holds) and time.monotonic() < deadline:
            time.sleep(0.02)
