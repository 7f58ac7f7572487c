"""Debian's PgBouncer in transaction mode, before the bundled PostgreSQL of the tests."""

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from development.servers import bundled
from development.servers.processes import die_with_parent
from development.servers.unprivileged import chown_tree, popen_options
from tests.processes.own_postgresql import is_server_up
from tests.processes.waiting import wait_for

# Few, so that transactions of one client alternate between connections.
_POOL_SIZE = 5
_SETTINGS = """
[databases]
* = host={server}
[pgbouncer]
pool_mode = {mode}
default_pool_size = {size}
max_client_conn = 500
listen_addr =
unix_socket_dir = {place}
auth_type = trust
auth_file = {place}/users.txt
"""


@contextmanager
def pgbouncer(*, mode: str = "transaction") -> Iterator[str]:
    """Run it while the block runs, and yield the prefix of its URLs, to which the database's name is added."""
    program = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin")
    assert program, "pgbouncer is not installed"
    # Not in pytest's directories: a socket's path may have 107 characters at most.
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        text = _SETTINGS.format(server=bundled.socket_directory(), mode=mode, size=_POOL_SIZE, place=place)
        (place / "pgbouncer.ini").write_text(text, encoding="utf-8")
        (place / "users.txt").write_text('"launchboard" ""\n', encoding="utf-8")
        chown_tree(place)
        process = subprocess.Popen(
            [program, "--quiet", str(place / "pgbouncer.ini")],
            preexec_fn=die_with_parent(signal.SIGKILL),
            **popen_options(),
        )
        prefix = f"postgres://launchboard@{quote(directory, safe='')}:6432/"
        try:
            wait_for(lambda: is_server_up(f"{prefix}postgres"))
            yield prefix
        finally:
            process.kill()
            process.wait()
