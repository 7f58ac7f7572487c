"""Followers and Celery processes that start fast, since they are forked programs; all end with the block."""

import json
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.processes.forking.program import Program


@dataclass(frozen=True)
class Forked:
    """A running process; with `leads_group` it leads its own process group, which is killed as a whole."""

    process: Program
    leads_group: bool = False

    def kill(self) -> None:
        """End it as `kill -9` does, wherever it is."""
        if self.is_alive():
            (os.killpg if self.leads_group else os.kill)(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def is_alive(self) -> bool:
        return self.process.poll() is None


@dataclass(frozen=True)
class ForkServer:
    """Start of followers and Celery processes in an environment."""

    environment: Mapping[str, str]
    processes: list[Forked] = field(default_factory=list)

    def follow(self, *chain_ids: int, settings: Mapping[str, Any]) -> Forked:
        """Fork a follower for these chains, with settings that override the environment."""
        words = ["python", "-m", "tests.processes.forked_follower", json.dumps(chain_ids), json.dumps(settings)]
        return self._fork(words, leads_group=False)

    def celery(self, *words: str) -> Forked:
        """Fork a Celery process, such as a worker, with its command line's words."""
        return self._fork(["celery", *words], leads_group=True)

    def _fork(self, words: list[str], *, leads_group: bool) -> Forked:
        program = Program(words, self.environment, start_new_session=leads_group)
        self.processes.append(Forked(program, leads_group))
        return self.processes[-1]


@contextmanager
def fork_server(environment: Mapping[str, str]) -> Iterator[ForkServer]:
    """Yield the start of processes, which end with the block."""
    server = ForkServer(environment)
    try:
        yield server
    finally:
        for process in server.processes:
            process.kill()
