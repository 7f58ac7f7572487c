"""`python -m tests.processes.forked_follower <chain ids> <settings>`, both as JSON: a follower with other settings."""

import json
import sys

import django
from django.conf import settings

from config.processes.stop_signals import stopped_by_signals
from tokens.following.follower import follow_chains


def main(chain_ids: str, changes: str) -> None:
    """Follow these chains, with settings that override the environment."""
    django.setup()
    for name, value in json.loads(changes).items():
        # JSON turns chain ids into text.
        by_chain = isinstance(value, dict)
        setattr(settings, name, {int(key): one for key, one in value.items()} if by_chain else value)
    with stopped_by_signals(status=0) as stop:
        follow_chains(json.loads(chain_ids), stop=stop)


if __name__ == "__main__":
    main(*sys.argv[1:])
