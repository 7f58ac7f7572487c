"""The service as production runs it, by the lines of the Procfile, for as long as a benchmark asks it."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from config.env import BASE_DIR
from config.processes import die_with_parent
from config.server_addresses import web_server_answers

HOST = "127.0.0.1"
_START_SECONDS = 60.0


@contextmanager
def web_server(environment: Mapping[str, str], **settings: str) -> Iterator[int]:
    """The port of a web server with these settings; it runs until the block ends."""
    port = _free_port()
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
    """The worker, which counts what lists ask to be counted."""
    with _process("worker", environment):
        yield


@contextmanager
def follower(environment: Mapping[str, str]) -> Iterator[None]:
    """The process that follows chains."""
    with _process("follower", environment):
        yield


@contextmanager
def _process(name: str, environment: Mapping[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    lines = (BASE_DIR / "Procfile").read_text(encoding="utf-8").splitlines()
    command = dict(line.split(": ", 1) for line in lines)[name]
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    process = subprocess.Popen(
        ["/bin/sh", "-c", f"exec {command}"],
        cwd=BASE_DIR,
        env=dict(environment) | {"PATH": path},
        stdin=subprocess.DEVNULL,
        preexec_fn=die_with_parent(signal.SIGTERM),
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
    return port
