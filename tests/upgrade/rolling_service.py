"""A whole service behind nginx, whose processes are replaced by those of another version as docs/running.md says."""

import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import requests

from config.environment.server_urls import is_web_server_up
from config.environment.variables import BASE_DIR
from development.servers.processes import free_port
from tests.chaos.harness import Processes
from tests.processes.nginx import port_is_open, running_nginx, write_nginx_file
from tests.processes.service_processes import HOST, Service
from tests.processes.waiting import wait_for
from tests.upgrade.former_version import Version

# The sequence of an upgrade: consumers of messages and events before the processes that write them.
UPGRADE = ("worker", "follower", "events", "beat", "stream", "web")
# Processes behind the proxy: the setting of their port, and the ports of docs/nginx.conf.
_PORTS = {"web": ("PORT", ("8000", "8010")), "stream": ("STREAM_PORT", ("8001", "8011"))}


@dataclass(kw_only=True)
class Proxy:
    """nginx by docs/nginx.conf, whose ports in use can be exchanged."""

    directory: Path
    port: int
    # Ports of a process, that in use first.
    ports: dict[str, list[int]]
    _process: "subprocess.Popen[bytes] | None" = None

    def exchange(self, name: str) -> None:
        """Send new requests to the other port of a process, and wait until no other worker takes any."""
        self.ports[name].reverse()
        write_nginx_file(self.directory, self._servers())
        assert self._process
        before = set(psutil.Process(self._process.pid).children())
        self._process.send_signal(signal.SIGHUP)
        wait_for(lambda: all(_is_shutting_down(worker) for worker in before))

    def failures(self) -> list[str]:
        """Return the responses that no client may get, a line each: all 5xx but 503 with Retry-After."""
        failed = re.compile(r'5(?!03 .* "\d+" ")\d\d ')
        return [line for line in self._lines() if failed.match(line)]

    def statuses(self) -> dict[str, int]:
        """Return the number of responses by status."""
        found = [line[:3] for line in self._lines()]
        return {status: found.count(status) for status in sorted(set(found))}

    def _lines(self) -> list[str]:
        return (self.directory / "access.log").read_text(encoding="utf-8").splitlines()

    def _servers(self) -> str:
        text = (BASE_DIR / "docs" / "nginx.conf").read_text(encoding="utf-8")
        ports = {
            documented: str(port)
            for name, (_, pair) in _PORTS.items()
            for documented, port in zip(pair, self.ports[name], strict=True)
        }
        ports["80"] = str(self.port)
        return re.sub(
            r"(?<=127\.0\.0\.1:)\d+", lambda match: ports[match[0]], text.replace("listen 80;", f"listen {HOST}:80;")
        )

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run nginx while the block runs."""
        with running_nginx(self.directory, self._servers()) as self._process:
            wait_for(lambda: port_is_open(self.port))
            yield


def _is_shutting_down(worker: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return "shutting down" in " ".join(worker.cmdline()) or worker.status() == psutil.STATUS_ZOMBIE
    return True


@dataclass(kw_only=True)
class RollingService(Processes):
    """The running processes, at most one of each name except during a replacement."""

    proxy: Proxy
    # Log of all processes.
    log: Path
    stack: ExitStack
    # Longest time from SIGTERM to the end of a process by name, in seconds, and exit statuses other than 0.
    stop_seconds: dict[str, float] = field(default_factory=dict)
    statuses: list[str] = field(default_factory=list)

    def start_all(self, version: Version) -> None:
        """Start all processes, and wait until the proxy forwards to them."""
        for name in UPGRADE:
            self.running[name] = self._start(name, version, place=0)
        for name in _PORTS:
            wait_for(lambda name=name: self._is_ready(name, place=0))

    def replace(self, name: str, version: Version) -> None:
        """Replace a process by that of another version."""
        former = self.running[name]
        if name == "beat":
            # Two of them would enqueue every periodic task twice.
            self._stop(former)
            self.running[name] = self._start(name, version)
            return
        self.running[name] = self._start(name, version, place=1)
        if name in _PORTS:
            wait_for(lambda: self._is_ready(name, place=1))
            self.proxy.exchange(name)
        self._stop(former)

    def start_standby(self, name: str, version: Version) -> None:
        """Start a second process at the other port, the backup of the proxy, and wait until it responds."""
        self.running[f"{name} standby"] = self._start(name, version, place=1)
        wait_for(lambda: self._is_ready(name, place=1))

    def stop_all(self, wait_for_events: Callable[[], None]) -> None:
        """Stop what writes events, call the function, and stop what publishes and streams them."""
        readers = [self.running[name] for name in ("events", "stream")]
        for running in self.running.values():
            if running not in readers:
                self._stop(running)
        wait_for_events()
        for running in readers:
            self._stop(running)

    def _start(self, name: str, version: Version, *, place: int = 0) -> Service:
        environment = dict(self.environment)
        if name in _PORTS:
            environment[_PORTS[name][0]] = str(self.proxy.ports[name][place])
        running = Service(name, environment, directory=version.directory, log=self.log)
        self.stack.callback(running.kill)
        return running

    def _stop(self, running: Service) -> None:
        started = time.monotonic()
        running.stop()
        seconds = time.monotonic() - started
        self.stop_seconds[running.name] = max(self.stop_seconds.get(running.name, 0.0), round(seconds, 1))
        # Celery's beat ends by the signal's default.
        if running.process.returncode not in (0, -signal.SIGTERM):
            self.statuses.append(f"{running.name} ended with status {running.process.returncode}")

    def _is_ready(self, name: str, *, place: int) -> bool:
        port = self.proxy.ports[name][place]
        if not is_web_server_up(HOST, port):
            return False
        path = "/readyz" if name == "web" else "/api/tokens/stream"
        with requests.get(f"http://{HOST}:{port}{path}", stream=True, timeout=10) as response:
            return response.status_code == 200


@contextmanager
def run_proxy(directory: Path) -> Iterator[Proxy]:
    """Run nginx on a free port while the block runs."""
    directory.mkdir()
    proxy = Proxy(directory=directory, port=free_port(), ports={name: [free_port(), free_port()] for name in _PORTS})
    with proxy.running():
        yield proxy
