"""Debian's PostgreSQL of the oldest version that the service supports."""

import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from development.servers.processes import die_with_parent
from development.servers.unprivileged import chown_tree, popen_options
from tests.processes.own_postgresql import is_server_up
from tests.processes.waiting import wait_for

PROGRAMS = Path("/usr/lib/postgresql/15/bin")
_INITDB = ("--username=launchboard", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")


@contextmanager
def oldest_postgresql() -> Iterator[str]:
    """Run it while the block runs, and yield the prefix of its URLs, to which the database's name is added."""
    assert PROGRAMS.exists(), "PostgreSQL 15 is not installed"
    # Not in pytest's directories: a socket's path may have 107 characters at most.
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory) / "data"
        data.mkdir(mode=0o700)
        chown_tree(Path(directory))
        subprocess.run([PROGRAMS / "initdb", "--pgdata", data, *_INITDB], check=True, **popen_options())
        settings = ("listen_addresses=", f"unix_socket_directories={directory}", "fsync=off")
        process = subprocess.Popen(
            [PROGRAMS / "postgres", "-D", data, *(part for setting in settings for part in ("-c", setting))],
            preexec_fn=die_with_parent(signal.SIGINT),
            **popen_options(),
        )
        prefix = f"postgres://launchboard@{quote(directory, safe='')}/"
        try:
            wait_for(lambda: is_server_up(f"{prefix}postgres"))
            yield prefix
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()
