"""A PostgreSQL that one test may kill and restart; then it has only committed rows."""

import shutil
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg

from development.servers.programs import Postgres
from development.servers.unprivileged import chown_tree
from tests.processes.waiting import wait_for

_START_SECONDS = 60.0


class _Standby(Postgres):
    """Server with another server's copied data, which replays the other server's writes."""

    def __init__(self, place: Path, primary: str) -> None:
        super().__init__(place, place, durable=True)
        self._primary = primary

    def prepare(self) -> None:
        """Copy the data."""
        target = ("--pgdata", str(self._data), "--write-recovery-conf")
        self._run("pg_basebackup", f"--dbname={self._primary}", *target, "--checkpoint=fast")


class _Recovered(Postgres):
    """Server with a base backup, which recovers by these settings."""

    def __init__(self, place: Path, base: Path, settings: str) -> None:
        super().__init__(place, place, durable=True)
        self._base, self._settings = base, settings

    def prepare(self) -> None:
        """Copy the base backup."""
        shutil.copytree(self._base, self._data)
        (self._data / "recovery.signal").touch()
        with (self._data / "postgresql.auto.conf").open("a") as file:
            file.write(self._settings)
        self._data.chmod(0o700)
        chown_tree(self._data)


@dataclass(frozen=True)
class Recovery:
    """A base backup's directory, and the settings for a recovery from it."""

    base: Path
    settings: str


class OwnPostgres:
    """Server on a socket in the test's directory, with an empty database."""

    def __init__(self, place: Path, *, primary: "OwnPostgres | None" = None, recovery: Recovery | None = None) -> None:
        """Start the server, as a streaming replica for `primary`, or recovered, if there is one."""
        chown_tree(place)
        self.host = str(place)
        self.url = f"postgres://launchboard@{quote(self.host, safe='')}/launchboard"
        if recovery:
            self._server: Postgres = _Recovered(place, recovery.base, recovery.settings)
        else:
            self._server = _Standby(place, primary.url) if primary else Postgres(place, place, durable=True)
        self._server.prepare()
        self.start()

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        self._process: subprocess.Popen[bytes] = self._server.start()
        wait_for(self._is_ready, seconds=_START_SECONDS)

    def _is_ready(self) -> bool:
        if self._process.poll() is not None:
            # The killed server's sessions hold its shared memory until they end.
            self._process = self._server.start()
        return self._server.is_ready(self._process.pid)

    def kill(self) -> None:
        """End it as `kill -9` does, and wait for its sessions: each ends once it notices, and may respond before."""
        sessions = psutil.Process(self._process.pid).children()
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        psutil.wait_procs(sessions, timeout=_START_SECONDS)

    def quit(self) -> None:
        """End it in immediate mode: all sessions end at once, and it recovers at its next start."""
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait()

    def suspend(self) -> None:
        """Suspend all its processes: it accepts connections and statements, and does not respond."""
        self._signal_all(signal.SIGSTOP)

    def resume(self) -> None:
        """Resume its processes, which then respond to what they received meanwhile."""
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number: signal.Signals) -> None:
        server = psutil.Process(self._process.pid)
        # The postmaster first when it stops: it starts no session then.
        for process in (server, *server.children()):
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def has_ended(self) -> bool:
        """Return whether it has ended by itself."""
        return self._process.poll() is not None

    def stop(self) -> None:
        """End its sessions and then itself, as `pg_ctl stop --mode fast` does."""
        self._process.send_signal(signal.SIGINT)
        self._process.wait()


def is_server_up(url: str) -> bool:
    """Return whether a server or pooler accepts connections to the database."""
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True
