"""The service's processes by the Procfile; each can be killed with its children. This version's are forked programs."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil

from config.environment.server_urls import is_web_server_up
from config.environment.variables import BASE_DIR
from development.servers.processes import die_with_parent
from tests.processes.forking.program import Program
from tests.processes.waiting import wait_for

HOST = "127.0.0.1"


class Service:
    """Process from one Procfile line. The thread that starts it must not end before it."""

    def __init__(
        self, name: str, environment: Mapping[str, str], *, directory: Path = BASE_DIR, log: Path | None = None
    ) -> None:
        """Start it, with the version in this directory; `log` is the file for its output, by default the tests'."""
        self.process: subprocess.Popen[str]
        self.name, self._directory, self._log = name, directory, log
        self._environment = with_path(environment, python_of(directory))
        self.start()

    def start(self) -> None:
        """Start the process."""
        with ExitStack() as files:
            output = None if self._log is None else files.enter_context(self._log.open("ab"))
            options: dict[str, Any] = {
                "stdin": subprocess.DEVNULL,
                "stdout": output,
                "stderr": output,
                "start_new_session": True,
            }
            if self._directory == BASE_DIR:
                self.process = Program(words(self.name, self._environment), self._environment, **options)
                return
            self.process = subprocess.Popen(
                ["/bin/sh", "-c", f"exec {line(self.name, self._directory)}"],
                cwd=self._directory,
                env=self._environment,
                preexec_fn=die_with_parent(signal.SIGTERM),
                text=True,
                **options,
            )

    def kill(self) -> None:
        """End it and its children as `kill -9` does, wherever they are."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def kill_child(self, rng: random.Random) -> None:
        """End a child as `kill -9` does."""
        children = psutil.Process(self.process.pid).children()
        if children:
            rng.choice(children).kill()

    def stop(self) -> None:
        """Terminate it, and wait for its end."""
        self.process.terminate()
        self.process.wait()


@contextmanager
def service(name: str, environment: Mapping[str, str], *, log: Path | None = None) -> Iterator[Service]:
    """Run a Procfile line while the block runs."""
    running = Service(name, environment, log=log)
    try:
        yield running
    finally:
        running.kill()


@contextmanager
def managing(words: Sequence[str], environment: Mapping[str, str]) -> Iterator["subprocess.Popen[str]"]:
    """Run a manage.py command while the block runs, with its errors in a pipe; it is killed where it still runs."""
    process = subprocess.Popen(
        [sys.executable, "manage.py", *words],
        cwd=BASE_DIR,
        env=dict(environment),
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=die_with_parent(signal.SIGKILL),
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def web_service(environment: Mapping[str, str], port: int, *, log: Path | None = None) -> Iterator[str]:
    """Run the web server on this port, for requests to any host, and return its URL once it responds."""
    with service("web", dict(environment) | {"PORT": str(port), "ALLOWED_HOSTS": "*"}, log=log):
        wait_for(lambda: is_web_server_up(HOST, port))
        yield f"http://{HOST}:{port}"


def python_of(directory: Path) -> str:
    """Return the interpreter with the requirements for the version in this directory."""
    return sys.executable if directory == BASE_DIR else str(directory / ".venv" / "bin" / "python")


def line(name: str, directory: Path = BASE_DIR) -> str:
    """Return the command with this name in the Procfile for the version in this directory."""
    lines = (directory / "Procfile").read_text(encoding="utf-8").splitlines()
    return dict(entry.split(": ", 1) for entry in lines)[name]


def words(name: str, environment: Mapping[str, str]) -> list[str]:
    """Return that command's words, as the shell splits them."""
    command = ["/bin/sh", "-c", f"printf '%s\\n' {line(name)}"]
    return subprocess.check_output(command, env=dict(environment), text=True).splitlines()


def with_path(environment: Mapping[str, str], python: str) -> dict[str, str]:
    """Return the environment with this Python's programs on the PATH."""
    path = os.pathsep.join((str(Path(python).parent), environment.get("PATH", os.defpath)))
    return dict(environment) | {"PATH": path}


def command_line(process: psutil.Process) -> str:
    """Return a process's command line, empty once it has ended."""
    try:
        return " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return ""
