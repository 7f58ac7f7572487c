"""The fork server's main loop for Celery (`tests.processes.fork_server`): forks a process per line of stdin.

It has one thread and no own connection, so that a fork takes nothing along that two can't share.
"""

import json
import os
import signal
import sys

from config.celery import app
from development.servers.processes import die_with_parent


def main() -> None:
    """Fork a Celery process for each list of words, and print its process id, which is its group's, too."""
    app.loader.import_default_modules()
    # Ended children are reaped by the kernel.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        ends_with_us = die_with_parent(signal.SIGKILL)
        started, starts = os.pipe()
        child = os.fork()
        if child == 0:
            os.setsid()
            ends_with_us()
            os.close(starts)
            _run(json.loads(line))
        os.close(starts)
        # It has its own group by now, which can be killed.
        os.read(started, 1)
        os.close(started)
        print(child, flush=True)


def _run(words: list[str]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), sys.stdin.fileno())
    # The fork server's output is only for process ids.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    app.start(argv=words)
    os._exit(0)
