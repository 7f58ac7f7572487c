"""The service as production runs it, by the lines of the Procfile, for as long as a benchmark asks it."""

import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from config.environment.server_urls import web_server_answers
from tests.processes.service_processes import HOST, Service, free_port

_START_SECONDS = 60.0


@contextmanager
def web_server(environment: Mapping[str, str], **settings: str) -> Iterator[int]:
    """The port of a web server with these settings; it runs until the block ends."""
    port = free_port()
    own = {"PORT": str(port), "WEB_HOST": HOST, "WEB_WORKERS": "2"} | settings
    with _process("web", dict(environment) | own) as process:
        deadline = time.monotonic() + _START_SECONDS
        while not web_server_answers(HOST, port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the web server did not start")
            time.sleep(0.05)
        yield port


@contextmanager
def worker(environment: Mapping[str, str]) -> Iterator[None]:
    """The worker, which counts what lists ask to be counted, and carries deployments out."""
    with _process("worker", environment):
        yield


@contextmanager
def beat(environment: Mapping[str, str]) -> Iterator[None]:
    """The process that enqueues what is done again and again."""
    with _process("beat", environment):
        yield


@contextmanager
def follower(environment: Mapping[str, str]) -> Iterator[None]:
    """The process that follows chains."""
    with _process("follower", environment):
        yield


@contextmanager
def _process(name: str, environment: Mapping[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    running = Service(name, environment)
    try:
        yield running.process
    finally:
        running.stop()
