"""Show the wallets that send deployments, chain by chain."""

from decimal import Decimal
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from config.http.json_client import Permanent, Retryable
from tokens.deploying.sending.wallets import WalletState, note_wallets, read_wallets
from tokens.installation.installed_signers import signing_chains


class Command(BaseCommand):
    help = "Show the wallets that send deployments: what they own, their next nonce, and how many nonces are in flight."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--note",
            action="store_true",
            help="First open the keys of the settings and ask the nodes, as a worker does every half minute.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        # Where this process has no keys, others may.
        for chain_id in sorted(signing_chains()) if options["note"] else ():
            try:
                note_wallets(chain_id)
            except (Retryable, Permanent) as error:
                self.stderr.write(f"chain {chain_id}: {error}")
        wallets = read_wallets()
        if not wallets:
            self.stdout.write("No wallet was noted yet: set DEPLOYER_KEYS_<chainId> or one of its like.")
        for wallet in wallets:
            self.stdout.write(_line(wallet))


def _line(wallet: WalletState) -> str:
    words = [
        f"chain {wallet.chain_id}  {wallet.address}",
        "balance unknown" if wallet.balance is None else f"balance {_coins(wallet.balance)}",
        f"next nonce {wallet.next_nonce}",
        f"in flight {wallet.in_flight}",
    ]
    words += ["switched off"] * (not wallet.enabled) + ["nobody has its key"] * (not wallet.signable)
    return "  ".join([*words, *wallet.trouble.splitlines()])


def _coins(wei: Decimal) -> str:
    """Whole native coins, with as many decimals as it takes."""
    return f"{wei.scaleb(-18).normalize():f}"
