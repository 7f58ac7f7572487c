"""Index transactions by hand: the same function as the API and the workers use."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.http.json_client import Permanent
from tokens import tasks
from tokens.indexing import index_requests
from tokens.installation.address_formats import parse_hash_on
from tokens.installation.installed_chains import UnsupportedChain, installed_launch_chain, registry


class Command(BaseCommand):
    help = "Index the launches of transactions; what is there already is refreshed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("hashes", nargs="+", metavar="HASH")
        parser.add_argument("--chain", type=int, help="Chain id; default: the one chain with nodes, or the first.")

    def handle(self, *args: Any, **options: Any) -> None:
        chain_id = options["chain"] or _default_chain_id()
        try:
            hashes = [parse_hash_on(chain_id, text) for text in options["hashes"]]
            installed_launch_chain(chain_id)
        except ValueError as error:
            raise CommandError(f"HASH {error}") from error
        except UnsupportedChain as error:
            raise CommandError(str(error)) from error
        failed = [tx_hash for tx_hash in hashes if not self._index(chain_id, tx_hash)]
        if failed:
            raise CommandError(f"{len(failed)} of {len(hashes)} transactions were not indexed.")

    def _index(self, chain_id: int, tx_hash: str) -> bool:
        try:
            addresses = index_requests.index_transaction(chain_id=chain_id, tx_hash=tx_hash)
        except index_requests.Postponed as error:
            tasks.retry_later(error, chain_id=chain_id, tx_hash=tx_hash)
            when = "not tried again" if error.retry_after is None else f"tried again in {error.retry_after} s"
            self.stderr.write(f"{tx_hash} {error}; {when}")
            return False
        except Permanent as error:
            self.stderr.write(f"{tx_hash} {error}")
            return False
        self.stdout.write(f"{tx_hash} {' '.join(addresses)}")
        return True


def _default_chain_id() -> int:
    """The chain that has nodes where only one has, else the registry's first."""
    return next(iter(settings.RPC_URLS)) if len(settings.RPC_URLS) == 1 else registry().default_chain.chain_id
