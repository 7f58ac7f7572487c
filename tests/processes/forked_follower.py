"""The fork server's main loop for followers (`tests.processes.fork_server`): forks one per line of stdin.

It has one thread and no own connection, so that a fork takes nothing along that two can't share.
"""

import json
import os
import signal
import sys
from typing import Any

from django.conf import settings

from config.processes.stop_signals import stopped_by_signals
from development.servers.processes import die_with_parent
from tokens.following.follower import follow_chains
from tokens.installation.installed_registry import registry


def main() -> None:
    """Fork a follower for each {"chain_ids": [...], "settings": {name: value}}, and print its process id."""
    registry()
    # Ended children are reaped by the kernel.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        ends_with_us = die_with_parent(signal.SIGKILL)
        child = os.fork()
        if child == 0:
            ends_with_us()
            _follow(json.loads(line))
            os._exit(0)
        print(child, flush=True)


def _follow(request: dict[str, Any]) -> None:
    for name, value in request["settings"].items():
        # JSON turns chain ids into text.
        by_chain = isinstance(value, dict)
        setattr(settings, name, {int(key): one for key, one in value.items()} if by_chain else value)
    with stopped_by_signals(status=0) as stop:
        follow_chains(request["chain_ids"], stop=stop)
