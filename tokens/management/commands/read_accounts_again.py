"""`manage.py read_accounts_again`: have the follower read Solana's accounts again, such as for older trades."""

from typing import Any

from django.core.management.base import BaseCommand

from tokens.checks import CHAINS
from tokens.following.solana.followed_accounts import read_again
from tokens.installation.installed_registry import registry


class Command(BaseCommand):
    help = "Have the follower read all accounts of Solana again from their beginning. Stored rows stay as they are."
    requires_system_checks = (CHAINS,)

    def handle(self, *args: Any, **options: Any) -> None:
        count = read_again(registry().solana.chain_id)
        self.stdout.write(f"accounts that are read again: {count}")
