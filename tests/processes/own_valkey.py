"""A Valkey of one test, which it may stop, hold up and start again."""

import signal
import subprocess
from pathlib import Path

from development.servers.programs import Valkey
from tests.processes.waiting import wait_for


class OwnServer:
    """It listens on a socket in a directory of the test's; one that is durable finds its data again when killed."""

    def __init__(self, place: Path, *, durable: bool = False) -> None:
        self._valkey = Valkey(place / "data", place, durable=durable)
        self._valkey.prepare()
        self.url = f"unix://{place / 'valkey.sock'}?db=0"
        self.start()

    def start(self) -> None:
        self._process: subprocess.Popen[bytes] = self._valkey.start()
        wait_for(lambda: self._valkey.answers(self._process.pid))

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        self._process.send_signal(number)
        self._process.wait(10)

    def kill(self) -> None:
        """End it as `kill -9` does."""
        self.stop(signal.SIGKILL)

    def hold_up(self) -> None:
        """It takes connections and commands from now on, and answers nothing."""
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """It answers what has come meanwhile."""
        self._process.send_signal(signal.SIGCONT)
