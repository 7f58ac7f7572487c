"""The service's processes as in production, by the Procfile's lines, for a block's duration."""

import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from config.environment.server_urls import is_web_server_up
from development.servers.processes import free_port
from tests.processes.service_processes import HOST, Service

_START_SECONDS = 60.0


@contextmanager
def web_server(environment: Mapping[str, str], **settings: str) -> Iterator[int]:
    """Yield a web server's port with these settings; it runs until the block ends."""
    port = free_port()
    own = {"PORT": str(port), "WEB_HOST": HOST, "WEB_WORKERS": "2"} | settings
    with _process("web", dict(environment) | own) as process:
        deadline = time.monotonic() + _START_SECONDS
        while not is_web_server_up(HOST, port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the web server did not start")
            time.sleep(0.05)
        yield port


@contextmanager
def worker(environment: Mapping[str, str]) -> Iterator[None]:
    """Run the worker, which counts totals for lists, and carries deployments out."""
    with _process("worker", environment):
        yield


@contextmanager
def beat(environment: Mapping[str, str]) -> Iterator[None]:
    """Run the process that enqueues periodic tasks."""
    with _process("beat", environment):
        yield


@contextmanager
def follower(environment: Mapping[str, str]) -> Iterator[None]:
    """Run the process that follows chains."""
    with _process("follower", environment):
        yield


@contextmanager
def events(environment: Mapping[str, str]) -> Iterator[None]:
    """Run the process that publishes and delivers events."""
    with _process("events", environment):
        yield


@contextmanager
def _process(name: str, environment: Mapping[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    running = Service(name, environment)
    try:
        yield running.process
    finally:
        running.stop()
