"""The web server as in production, for a block's duration."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from config.environment.server_urls import is_web_server_up
from development.servers.processes import free_port
from tests.processes.service_processes import HOST, service

_START_SECONDS = 60.0


@contextmanager
def web_server(environment: Mapping[str, str], **settings: str) -> Iterator[int]:
    """Yield a web server's port with these settings; it runs until the block ends."""
    port = free_port()
    own = {"PORT": str(port), "WEB_HOST": HOST, "WEB_WORKERS": "2"} | settings
    with service("web", dict(environment) | own) as web:
        deadline = time.monotonic() + _START_SECONDS
        while not is_web_server_up(HOST, port):
            if web.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the web server did not start")
            time.sleep(0.05)
        yield port
