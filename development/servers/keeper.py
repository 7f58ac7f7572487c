"""Keeper for one bundled server, which runs while it has users.

Usage: `python -m development.servers.keeper SERVER LOCAL SOCKETS durable|fast`.

`development.servers.bundled` starts it in its own session, so that a terminal's Ctrl-C does not reach it. It has one
thread and imports only the standard library: it starts fast, and may safely run code between fork and exec.
"""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

from development.servers.programs import Server, ServerFailedError, make_server

_START_SECONDS = 60.0
_STOP_SECONDS = 30.0
_RESTART_SECONDS = 1.0


class _ServerEndedError(Exception):
    """Raised when the server's process ended although it has users."""


def run_while_used(server: Server, locks: Path) -> None:
    """Start the server, wait until its last user has ended, stop it. Raises ServerFailedError if it does not start."""
    keeper = _open(locks / f"{server.name}.keeper")
    fcntl.flock(keeper, fcntl.LOCK_EX)
    users = _open(locks / f"{server.name}.users")
    ready = locks / f"{server.name}.ready"
    server.prepare()
    process = _start(server)
    try:
        ready.touch()
        while not _wait_for_the_last_user(users, process):
            if process.poll() is None:
                # The signal also reports a halt or a continuation.
                continue
            # Servers recover from small failures; the delay keeps a permanent failure from filling the log.
            time.sleep(_RESTART_SECONDS)
            server.prepare()
            process = _start(server)
    finally:
        # Done while the keeper holds the users' lock: a new user blocks on it, and then starts another keeper.
        ready.unlink(missing_ok=True)
        _stop(server, process)


def _start(server: Server) -> "subprocess.Popen[bytes]":
    process = server.start()
    deadline = time.monotonic() + _START_SECONDS
    while not server.is_ready(process.pid):
        if process.poll() is not None:
            raise ServerFailedError(f"{server.name} ended with status {process.returncode}")
        if time.monotonic() > deadline:
            _stop(server, process)
            raise ServerFailedError(f"{server.name} did not answer within {_START_SECONDS:.0f} s")
        time.sleep(0.01)
    return process


def _wait_for_the_last_user(users: int, process: "subprocess.Popen[bytes]") -> bool:
    """Return True once the last user has ended; False if the server ended first."""
    try:
        signal.signal(signal.SIGCHLD, _raise_ended)
        if process.poll() is not None:
            return False
        fcntl.flock(users, fcntl.LOCK_EX)
    except _ServerEndedError:
        return False
    finally:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    return True


def _raise_ended(number: int, frame: FrameType | None) -> None:
    raise _ServerEndedError


def _raise_exit(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


def _stop(server: Server, process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.send_signal(server.stop_signal)
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def main() -> None:
    name, local, sockets, mode = sys.argv[1:]
    signal.signal(signal.SIGTERM, _raise_exit)
    try:
        run_while_used(make_server(name, Path(local), Path(sockets), durable=mode == "durable"), Path(local) / "lock")
    except (ServerFailedError, OSError) as error:
        sys.exit(f"{name}: {error}")


if __name__ == "__main__":
    main()
