"""`manage.py backfill`: index past blocks, with launches and later events."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.http.errors import PermanentError
from config.processes.stop_signals import stopped_by_signals
from tokens.chains.errors import NodeUnavailableError
from tokens.checks import CHAINS
from tokens.following import prefetch
from tokens.following.backfill import Backfill, NotFinalError, RetryDelay
from tokens.following.coverage import followed_makers
from tokens.following.prefetch import RetryControl
from tokens.installation.installed_chains import (
    UnsupportedChainError,
    installed_chain,
    installed_chain_second_node_first,
)


class Command(BaseCommand):
    help = (
        "Index a range of past blocks; the same command resumes where it was stopped or killed."
        " Fails at once if no node responds at the start; later, nodes are retried until they do."
    )
    requires_system_checks = (CHAINS,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--chain", type=int, required=True, metavar="ID", help="Chain id.")
        parser.add_argument("--from", type=int, metavar="BLOCK", help="The first block.")
        parser.add_argument("--to", type=int, metavar="BLOCK", help="The last block; it must be final.")
        parser.add_argument(
            "--trades",
            action="store_true",
            help="Only the trades of indexed tokens; by default from the earliest launch to the newest final block.",
        )
        parser.add_argument("--verify", action="store_true", help="Verify the range afterwards, as by FOLLOW_VERIFY.")

    def handle(self, *args: Any, **options: Any) -> None:
        chain_id, first, last = options["chain"], options["from"], options["to"]
        _check_blocks(first, last, only_trades=options["trades"])
        try:
            chain, alternate = installed_chain(chain_id), installed_chain_second_node_first(chain_id)
            if options["trades"] and not followed_makers(chain.info):
                raise CommandError(f"--trades: the market data of chain {chain_id} comes from the provider")
            with stopped_by_signals(status=1) as stop, prefetch.tuned_for_reading():
                retry_delay = RetryDelay()
                control = RetryControl(stop=stop, record=retry_delay.record, clear=retry_delay.clear)
                backfill = Backfill(chain=chain, alternate=alternate, control=control)
                run = backfill.run_trades if options["trades"] else backfill.run
                complete = run(first=first, last=last, verified=options["verify"])
        except UnsupportedChainError as error:
            raise CommandError(f"--chain: {error}") from error
        except NotFinalError as error:
            raise CommandError(f"--to: {error}") from error
        except NodeUnavailableError as error:
            raise CommandError(f"{error}; is RPC_URLS_{chain_id} right?") from error
        except PermanentError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"launches: {backfill.launches}, transactions: {backfill.transactions}, trades: {backfill.trades}, "
            f"repaired: {backfill.missing} missing, {backfill.invented} invented"
        )
        if not complete:
            raise CommandError("stopped before the end; the same command continues from there")


def _check_blocks(first: int | None, last: int | None, *, only_trades: bool) -> None:
    """Raise CommandError for a run that the options do not make."""
    if not only_trades and (first is None or last is None):
        raise CommandError("--from and --to are required, except with --trades")
    if first is not None and first < 0:
        raise CommandError("--from must be at least 0")
    if first is not None and last is not None and last < first:
        raise CommandError(f"--to must be at least --from, which is {first}")
