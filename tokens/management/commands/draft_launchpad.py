"""`manage.py draft_launchpad`: propose a launchpad's declaration, from an ABI and one launch."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.http.errors import PermanentError, RetryableError
from tokens.chains.addresses import parse_transaction_hash
from tokens.checks import CHAINS
from tokens.declaring.abi_files import read_all_events
from tokens.declaring.launch_draft import draft_launch, draft_lines, launchpad_name
from tokens.installation.installed_chains import installed_chain
from tokens.installation.installed_registry import DefaultFor, default_chain, registry


class Command(BaseCommand):
    help = (
        "Print a TOML entry for a launchpad: the event of the ABIs that names a token created in the transaction, where"
        " its values are, and events of trades, changes and claims. Comments mark what is guessed. Nothing is stored."
    )
    requires_system_checks = (CHAINS,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tx", required=True, metavar="HASH", help="The transaction of a launch.")
        parser.add_argument(
            "--abi",
            type=Path,
            action="append",
            required=True,
            metavar="FILE",
            help='ABI of the contract that emits the launch event: a JSON array, or an artifact with "abi". May be'
            " repeated for contracts that emit trades, changes or claims.",
        )
        parser.add_argument(
            "--trade",
            action="append",
            default=[],
            metavar="HASH",
            help="A further transaction, whose logs show trades, changes or claims; may be repeated.",
        )
        parser.add_argument(
            "--chain",
            type=int,
            metavar="ID",
            help="Chain id; default: the first EVM chain of the registry with a node.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        chain_id = options["chain"] or default_chain(DefaultFor.EVM_ADDRESS).chain_id
        try:
            tx_hash, *trades = map(parse_transaction_hash, (options["tx"], *options["trade"]))
            draft = draft_launch(installed_chain(chain_id), tx_hash, read_all_events(options["abi"]), trades=trades)
        except ValueError as error:
            raise CommandError(str(error)) from error
        except (PermanentError, RetryableError) as error:
            raise CommandError(str(error)) from error
        for line in draft_lines(draft, name=launchpad_name(options["abi"][0].stem, registry().generations)):
            self.stdout.write(line)
