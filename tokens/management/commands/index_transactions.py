"""`manage.py index_transactions`: index transactions by the same function as the API and the workers."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.http.errors import PermanentError
from tokens.checks import CHAINS
from tokens.indexing import index_requests
from tokens.installation.address_formats import parse_chain_transaction
from tokens.installation.installed_chains import UnsupportedChainError, installed_launch_chain
from tokens.installation.installed_registry import DefaultFor, default_chain


class Command(BaseCommand):
    help = "Index the launches of transactions; those already indexed are refreshed, with their tokens' current state."
    requires_system_checks = (CHAINS,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("hashes", nargs="+", metavar="HASH")
        parser.add_argument(
            "--chain", type=int, help="Chain id; default: the first EVM chain of the registry with a node."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        chain_id = options["chain"] or default_chain(DefaultFor.INDEXING).chain_id
        try:
            hashes = [parse_chain_transaction(chain_id, text) for text in options["hashes"]]
            installed_launch_chain(chain_id)
        except ValueError as error:
            raise CommandError(f"HASH {error}") from error
        except UnsupportedChainError as error:
            raise CommandError(str(error)) from error
        failed = [tx_hash for tx_hash in hashes if not self._index(chain_id, tx_hash)]
        if failed:
            raise CommandError(f"{len(failed)} of {len(hashes)} transactions were not indexed.")

    def _index(self, chain_id: int, tx_hash: str) -> bool:
        try:
            addresses = index_requests.index_transaction(chain_id=chain_id, tx_hash=tx_hash, swept=True)
        except index_requests.IndexingPostponedError as error:
            when = "not retried" if error.retry_after is None else f"retried in {error.retry_after:g} s"
            self.stderr.write(f"{tx_hash} {error}; {when}")
            return False
        except PermanentError as error:
            self.stderr.write(f"{tx_hash} {error}")
            return False
        self.stdout.write(f"{tx_hash} {' '.join(addresses)}")
        return True
