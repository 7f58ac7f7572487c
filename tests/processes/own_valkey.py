"""One test's Valkey, which may stop, suspend and restart it."""

import signal
import subprocess
from pathlib import Path

from development.servers.programs import Valkey
from development.servers.unprivileged import chown_tree
from tests.processes.waiting import wait_for


class OwnServer:
    """Server on a socket in the test's directory; a durable one keeps its data after a kill."""

    def __init__(self, place: Path, *, durable: bool = False) -> None:
        chown_tree(place)
        self._valkey = Valkey(place, place, durable=durable)
        self._valkey.prepare()
        self.url = f"unix://{place / 'valkey.sock'}?db=0"
        self.start()

    def start(self) -> None:
        self._process: subprocess.Popen[bytes] = self._valkey.start()
        wait_for(lambda: self._valkey.is_ready(self._process.pid))

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        self._process.send_signal(number)
        self._process.wait(120)

    def kill(self) -> None:
        """End it as `kill -9` does."""
        self.stop(signal.SIGKILL)

    def has_ended(self) -> bool:
        """Return whether it has ended by itself."""
        return self._process.poll() is not None

    def suspend(self) -> None:
        """Suspend the process: it still accepts connections and commands, and does not respond."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Resume the process, which then responds to the commands received meanwhile."""
        self._process.send_signal(signal.SIGCONT)
