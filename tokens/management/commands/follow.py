"""`manage.py follow`: index launches by the registry's factories and configs until the process is stopped."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from config.processes.stop_signals import stopped_by_signals
from config.redis.stored_sums import start_storing_sums
from tokens.checks import CHAINS
from tokens.following import prefetch
from tokens.following.follower import follow_chains
from tokens.installation.installed_chains import UnsupportedChainError, installed_launch_chain
from tokens.installation.installed_registry import registry
from tokens.models import ChainHead


class Command(BaseCommand):
    help = (
        "Follow chains until SIGTERM or SIGINT. A second process is a standby and takes over when the first one stops."
    )
    requires_system_checks = (CHAINS,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--chain", type=int, action="append", metavar="ID", help="Chain id; default: all chains with nodes."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        chain_ids = _choose(options["chain"])
        _check_tables()
        start_storing_sums()
        with stopped_by_signals(status=0) as stop, prefetch.tuned_for_reading():
            follow_chains(chain_ids, stop=stop)


def _choose(requested: list[int] | None) -> list[int]:
    """Return the chains to follow, without duplicates. Raises CommandError for an unsupported chain."""
    all_chains = (chain_id for chain_id in settings.RPC_URLS if chain_id in registry().chains)
    chain_ids = list(dict.fromkeys(requested or all_chains))
    try:
        for chain_id in chain_ids:
            installed_launch_chain(chain_id)
    except UnsupportedChainError as error:
        raise CommandError(str(error)) from error
    if not chain_ids:
        raise CommandError("no chain of the registry has a node: set RPC_URLS_<chainId>")
    return chain_ids


def _check_tables() -> None:
    """Raise CommandError if the database lacks the tables that following needs."""
    is_there = ChainHead._meta.db_table in connection.introspection.table_names()
    # Each thread opens its own connection.
    connection.close()
    if not is_there:
        raise CommandError("the database lacks the tables of this version: run manage.py migrate first")
