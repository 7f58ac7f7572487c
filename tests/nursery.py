"""Followers that start in a moment, and can be killed at any: forked from a process that has loaded everything."""

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

from config.env import BASE_DIR
from config.processes import die_with_parent
from tests.waiting import wait_for

_COMMAND = "import django; django.setup(); from tests.forked_follower import main; main()"


@dataclass(frozen=True)
class Follower:
    """A running follower."""

    process_id: int

    def kill(self) -> None:
        """End it as `kill -9` does, wherever it is."""
        os.kill(self.process_id, signal.SIGKILL)
        wait_for(lambda: not self.is_alive())

    def is_alive(self) -> bool:
        try:
            os.kill(self.process_id, 0)
        except ProcessLookupError:
            return False
        return True


class Nursery:
    """The process from which followers are forked."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process, self._lock = process, threading.Lock()

    def start(self, *chain_ids: int, settings: Mapping[str, Any]) -> Follower:
        """A new follower of these chains, with settings other than those of the environment."""
        assert self._process.stdin and self._process.stdout
        with self._lock:
            self._process.stdin.write(json.dumps({"chain_ids": chain_ids, "settings": settings}) + "\n")
            self._process.stdin.flush()
            return Follower(int(self._process.stdout.readline()))


@contextmanager
def nursery(environment: Mapping[str, str]) -> Iterator[Nursery]:
    """A nursery while the block runs; its followers end with it."""
    with subprocess.Popen(
        [sys.executable, "-c", _COMMAND],
        cwd=BASE_DIR,
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=die_with_parent(signal.SIGKILL),
    ) as process:
        try:
            yield Nursery(process)
        finally:
            process.kill()
