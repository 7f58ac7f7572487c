"""Follow chains: find every launch of the registry's factories and configs, until the process is stopped."""

import logging
import os
import signal
from threading import Event
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error, connection

from tokens.following import prefetch
from tokens.following.follower import follow
from tokens.installation.installed_chains import UnsupportedChain, installed_launch_chain, registry
from tokens.models import ChainHead

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Follow chains until SIGTERM or SIGINT. A second process stands by and takes over where the first one ends."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--chain", type=int, action="append", metavar="ID", help="Chain id; default: all chains with nodes."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        chain_ids = _choose(options["chain"])
        _check_tables()
        stop = Event()

        def end(number: int, frame: FrameType | None) -> None:
            stop.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, end)
        with prefetch.set_for_reading():
            ended = follow(chain_ids, stop=stop)
        if not ended:
            # A node keeps some thread waiting. Nothing is lost with it: what is not committed is read again.
            logger.info("ending without waiting for answers of nodes")
            logging.shutdown()
            os._exit(0)


def _choose(wanted: list[int] | None) -> list[int]:
    """The chains to follow, each once. Raises CommandError for one that this installation can't follow."""
    all_chains = (chain_id for chain_id in settings.RPC_URLS if chain_id in registry().chains)
    chain_ids = list(dict.fromkeys(wanted or all_chains))
    try:
        for chain_id in chain_ids:
            installed_launch_chain(chain_id)
    except UnsupportedChain as error:
        raise CommandError(str(error)) from error
    if not chain_ids:
        raise CommandError("no chain of the registry has a node: set RPC_URLS_<chainId>")
    return chain_ids


def _check_tables() -> None:
    """Raise CommandError where the database can't be asked, or lacks what following needs."""
    try:
        is_there = ChainHead._meta.db_table in connection.introspection.table_names()
    except Error as error:
        raise CommandError(f"the database does not answer: {' '.join(str(error).split())}") from error
    # The threads have their own.
    connection.close()
    if not is_there:
        raise CommandError("the database lacks the tables of this version: run manage.py migrate first")
