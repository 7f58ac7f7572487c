"""A real nginx in front of a server of a test."""

import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from config.environment.server_urls import is_web_server_up
from development.servers.processes import die_with_parent, free_port
from tests.processes.service_processes import HOST
from tests.processes.waiting import wait_for

# Debian has it outside of users' PATH.
_PATH = "/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin"
_CONFIG = """
daemon off;
pid {directory}/nginx.pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path {directory}/body;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    server {{
        listen {host}:{port};
        location / {{
            proxy_pass http://{host}:{upstream};
            {directives}
        }}
    }}
}}
"""


def find_nginx() -> str:
    """Return the program; fail the test without it."""
    found = shutil.which("nginx") or shutil.which("nginx", path=_PATH)
    if found is None:
        pytest.fail("There is no nginx on the PATH. `make nginx` installs one.")
    return found


@contextmanager
def run_nginx(directory: Path, *, upstream: int, directives: str = "") -> Iterator[int]:
    """Proxy to this port of this machine while the block runs; yield nginx's own port."""
    port, config = free_port(), directory / "nginx.conf"
    config.write_text(
        _CONFIG.format(directory=directory, host=HOST, port=port, upstream=upstream, directives=directives)
    )
    command = [find_nginx(), "-p", str(directory), "-c", str(config), "-e", "stderr"]
    process = subprocess.Popen(command, preexec_fn=die_with_parent(signal.SIGTERM))
    try:
        wait_for(lambda: is_web_server_up(HOST, port))
        yield port
    finally:
        process.terminate()
        process.wait()
