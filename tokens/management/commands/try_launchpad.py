"""`manage.py try_launchpad`: show the rows that a file's launchpads would store from a real transaction."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.http.errors import PermanentError, RetryableError
from tokens.chains.addresses import parse_transaction_hash
from tokens.chains.evm.evm_chain import Chain
from tokens.checks import CHAINS
from tokens.declaring.declared_sources import chain_with
from tokens.declaring.launch_trial import try_transaction
from tokens.declaring.range_counts import count_lines, count_range, parse_range
from tokens.declaring.trial_report import trial_lines


class Command(BaseCommand):
    help = (
        "Read a transaction from the chain's nodes, and show what the launchpads of a file would store: each value"
        " with its origin, the calls, the trades, and mistakes. Nothing is stored."
    )
    requires_system_checks = (CHAINS,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="A registry file with [launchpads.<name>].")
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--tx", metavar="HASH", help="The transaction of a launch.")
        what.add_argument("--range", metavar="FROM:TO", help="Count launches and logs in these blocks instead.")
        parser.add_argument(
            "--trade",
            action="append",
            default=[],
            metavar="HASH",
            help="A further transaction, whose swaps, changes and claims are shown; may be repeated.",
        )
        parser.add_argument(
            "--chain",
            type=int,
            metavar="ID",
            help="Chain id; default: the only chain of the file's contracts, else the first EVM chain with a node.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            chain = chain_with(options["file"], chain_id=options["chain"])
            if options["tx"] is None:
                if options["trade"]:
                    raise CommandError("--trade goes with --tx: --range counts the trades in its blocks")
                self._count(chain, options["range"])
            else:
                self._try(chain, options["tx"], options["trade"])
        except ValueError as error:
            # RegistryError is a ValueError, with all mistakes in the file.
            raise CommandError(str(error)) from error
        except (PermanentError, RetryableError) as error:
            raise CommandError(str(error)) from error

    def _try(self, chain: Chain, tx_hash: str, trades: list[str]) -> None:
        tx_hash, *trades = (_parse_hash("--tx", tx_hash), *(_parse_hash("--trade", trade) for trade in trades))
        trial = try_transaction(chain, tx_hash, trades=trades)
        for line in trial_lines(trial):
            self.stdout.write(line)
        if not trial.launches:
            raise CommandError("no launch would be stored")

    def _count(self, chain: Chain, blocks: str) -> None:
        first, last = parse_range(blocks)
        for line in count_lines(count_range(chain, first, last)):
            self.stdout.write(line)


def _parse_hash(option: str, text: str) -> str:
    try:
        return parse_transaction_hash(text)
    except ValueError as error:
        raise CommandError(f"{option} {text}: {error}") from error
