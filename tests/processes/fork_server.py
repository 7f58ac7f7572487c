"""Fork server for followers and workers, which start fast, since their parent has loaded all modules."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from config.environment.variables import BASE_DIR
from development.servers.processes import die_with_parent
from tests.processes.waiting import wait_for


@dataclass(frozen=True)
class Forked:
    """A running process; with `leads_group` it leads its own process group, which is killed as a whole."""

    process_id: int
    leads_group: bool = False

    def kill(self) -> None:
        """End it as `kill -9` does, wherever it is."""
        (os.killpg if self.leads_group else os.kill)(self.process_id, signal.SIGKILL)
        wait_for(lambda: not self.is_alive())

    def is_alive(self) -> bool:
        try:
            os.kill(self.process_id, 0)
        except ProcessLookupError:
            return False
        return True


class ForkServer:
    """The process from which followers and workers are forked."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process, self._lock = process, threading.Lock()

    def follow(self, *chain_ids: int, settings: Mapping[str, Any]) -> Forked:
        """Fork a follower for these chains, with settings that override the environment."""
        return Forked(self._fork({"chain_ids": chain_ids, "settings": settings}))

    def celery(self, *words: str) -> Forked:
        """Fork a Celery process, such as a worker, with its command line's words."""
        return Forked(self._fork(words), leads_group=True)

    def _fork(self, request: Any) -> int:
        assert self._process.stdin and self._process.stdout
        with self._lock:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            return int(self._process.stdout.readline())


@contextmanager
def fork_server(environment: Mapping[str, str], *, of: str) -> Iterator[ForkServer]:
    """Run a fork server; its children end with it. `of` is the module with its main loop."""
    command = f"import django; django.setup(); from {of} import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", command],
        cwd=BASE_DIR,
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=die_with_parent(signal.SIGKILL),
    ) as process:
        try:
            yield ForkServer(process)
        finally:
            process.kill()
