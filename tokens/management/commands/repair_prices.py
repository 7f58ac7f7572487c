"""`manage.py repair_prices`: bound stored trade prices on a chain, which versions before 0.3.0 did not."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from tokens.checks import CHAINS
from tokens.indexing import chain_lock
from tokens.installation.installed_registry import registry
from tokens.models import Token
from tokens.trades.prices.stored_prices import repair_prices

# Pools in one transaction.
_POOLS = 500


class Command(BaseCommand):
    help = (
        "Set prices of trades that are beyond the liquidity of their pools to the last one that it reaches, and compute"
        " their candles and sums and all markets anew. No node is called; it may be stopped and repeated."
    )
    requires_system_checks = (CHAINS,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--chain", type=int, required=True, metavar="ID")

    def handle(self, *args: Any, **options: Any) -> None:
        chain = registry().chains.get(options["chain"])
        if chain is None:
            raise CommandError(f"--chain {options['chain']}: the registry has no such chain")
        pools = Token.objects.on_chain().filter(chain_id=chain.chain_id).exclude(pool_address="").order_by("pk")
        addresses = list(pools.values_list("pool_address", flat=True))
        repaired = 0
        for start in range(0, len(addresses), _POOLS):
            # Short transactions, between which blocks are written.
            with transaction.atomic():
                chain_lock.lock_exclusive(chain.chain_id)
                repaired += repair_prices(chain, addresses[start : start + _POOLS])
        self.stdout.write(f"prices that were changed: {repaired}, of trades in {len(addresses)} pools")
