"""`manage.py deploy_wallets`: show the wallets that send deployments, by chain."""

from decimal import Decimal
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from config.http.errors import PermanentError, RetryableError
from tokens.checks import CHAINS
from tokens.deploying.sending.wallets import list_wallets, refresh_wallets
from tokens.installation.installed_signers import installed_signers
from tokens.installation.signing_wallets import signing_chains


class Command(BaseCommand):
    help = "Show the wallets that send deployments: balance, next nonce, and the number of nonces in flight."
    requires_system_checks = (CHAINS,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--note",
            action="store_true",
            help="First load the keys of the settings and query the nodes, as a worker does every half minute.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        # A process without keys shows what others have stored.
        if options["note"]:
            self._refresh()
        wallets = list_wallets()
        if not wallets:
            self.stdout.write("No wallet is stored yet: set DEPLOYER_KEYS_<chainId> or another signer.")
        for wallet in wallets:
            self.stdout.write(_line(wallet))

    def _refresh(self) -> None:
        for chain_id in sorted(signing_chains()):
            try:
                refresh_wallets(chain_id, addresses=installed_signers(chain_id).keys())
            except (RetryableError, PermanentError) as error:
                self.stderr.write(f"chain {chain_id}: {error}")


def _line(wallet: Any) -> str:
    """Return the line for a `list_wallets` row."""
    parts = [
        f"chain {wallet.chain_id}  {wallet.address}",
        "balance unknown" if wallet.balance is None else f"balance {_coins(wallet.balance)}",
        f"next nonce {wallet.next_nonce}",
        f"in flight {wallet.in_flight}",
    ]
    parts += ["disabled"] * (not wallet.enabled) + ["no signer has its key"] * (not wallet.signable)
    return "  ".join([*parts, *wallet.alert_lines])


def _coins(wei: Decimal) -> str:
    """Format as whole native coins, with as many decimals as necessary."""
    return f"{wei.scaleb(-18).normalize():f}"
