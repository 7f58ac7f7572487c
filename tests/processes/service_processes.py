"""The service's processes as production runs them, by the Procfile; each can be killed with its children."""

import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil

from config.environment.variables import BASE_DIR
from development.servers.processes import die_with_parent

HOST = "127.0.0.1"


class Service:
    """One line of the Procfile. Whoever starts it must not be a thread that ends before it."""

    def __init__(self, name: str, environment: Mapping[str, str]) -> None:
        self.name, self._environment = name, with_path(environment)
        self.start()

    def start(self) -> None:
        """Start it anew."""
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {line(self.name)}"],
            cwd=BASE_DIR,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=die_with_parent(signal.SIGTERM),
        )

    def kill(self) -> None:
        """End it and its children as `kill -9` does, wherever they are."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def kill_child(self, rng: random.Random) -> None:
        """End one of its children so, and not itself."""
        children = psutil.Process(self.process.pid).children()
        if children:
            rng.choice(children).kill()

    def stop(self) -> None:
        """Ask it to end, and wait until it has."""
        self.process.terminate()
        self.process.wait()


@contextmanager
def service(name: str, environment: Mapping[str, str]) -> Iterator[Service]:
    """A line of the Procfile while the block runs."""
    running = Service(name, environment)
    try:
        yield running
    finally:
        running.kill()


def line(name: str) -> str:
    """What the Procfile starts under this name."""
    lines = (BASE_DIR / "Procfile").read_text(encoding="utf-8").splitlines()
    return dict(entry.split(": ", 1) for entry in lines)[name]


def words(name: str, environment: Mapping[str, str]) -> list[str]:
    """The same as the shell makes words of it."""
    command = ["/bin/sh", "-c", f"printf '%s\\n' {line(name)}"]
    return subprocess.check_output(command, env=dict(environment), text=True).splitlines()


def with_path(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment, in which the programs of this Python are found."""
    path = os.pathsep.join((str(Path(sys.executable).parent), environment.get("PATH", os.defpath)))
    return dict(environment) | {"PATH": path}


def free_port() -> int:
    """A TCP port where nobody listens."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
    return port
