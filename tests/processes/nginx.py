"""A real nginx before a test's server."""

import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from config.environment.server_urls import is_web_server_up
from config.environment.variables import BASE_DIR
from development.servers.processes import die_with_parent, free_port
from tests.processes.service_processes import HOST
from tests.processes.waiting import wait_for

# Debian has it outside users' PATH.
_PATH = "/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin"
_FRAME = """
daemon off;
pid {directory}/nginx.pid;
error_log stderr;
events {{ worker_connections 1024; }}
http {{
    log_format requests '$status $request_method $request_uri "$sent_http_retry_after" "$upstream_status"';
    access_log {directory}/access.log requests;
    client_body_temp_path {directory}/body;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
{servers}
}}
"""
_SERVER = """
    server {{
        listen {host}:{port};
        location / {{
            proxy_pass http://{host}:{upstream};
            {directives}
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
    """Proxy to this port on this machine while the block runs; yield nginx's own port."""
    port = free_port()
    server = _SERVER.format(host=HOST, port=port, upstream=upstream, directives=directives)
    with running_nginx(directory, server):
        wait_for(lambda: is_web_server_up(HOST, port))
        yield port


@contextmanager
def run_documented_nginx(
    directory: Path, *, web: int, stream: int, directives: str = "", before: str = ""
) -> Iterator[int]:
    """Run nginx by docs/nginx.conf before ports on this machine; yield its own port.

    The file's second ports lead to the same servers. `directives` are in its server, and `before` before it.
    """
    port = free_port()
    text = (BASE_DIR / "docs" / "nginx.conf").read_text(encoding="utf-8")
    text = text.replace("    listen 80;", f"    listen {HOST}:{port};\n{directives}")
    for documented, own in (("8000", web), ("8010", web), ("8001", stream), ("8011", stream)):
        text = text.replace(f"127.0.0.1:{documented}", f"{HOST}:{own}")
    with running_nginx(directory, before + text):
        wait_for(lambda: port_is_open(port))
        yield port


@contextmanager
def running_nginx(directory: Path, servers: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run nginx with these servers while the block runs; requests are in the directory's `access.log`."""
    write_nginx_file(directory, servers)
    command = [find_nginx(), "-p", str(directory), "-c", str(directory / "nginx.conf"), "-e", "stderr"]
    process = subprocess.Popen(command, preexec_fn=die_with_parent(signal.SIGTERM))
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def write_nginx_file(directory: Path, servers: str) -> None:
    """Write the file of `running_nginx`, which reads it again on SIGHUP."""
    text = _FRAME.format(directory=directory, servers=servers)
    (directory / "nginx.conf").write_text(text, encoding="utf-8")


def port_is_open(port: int) -> bool:
    """Return whether a server on this machine accepts connections at the port."""
    with socket.socket() as client:
        return client.connect_ex((HOST, port)) == 0
