"""Read a run of past blocks of a chain: all their launches, and what happened to their tokens since."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.http.json_client import Permanent, Retryable
from tokens.following import prefetch
from tokens.following.backfill import Backfill, NotFinal, Patience
from tokens.following.prefetch import Watch
from tokens.installation.installed_chains import UnsupportedChain, installed_chain, installed_chain_otherwise


class Command(BaseCommand):
    help = "Read a run of past blocks; the same command goes on where it was stopped or killed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--chain", type=int, required=True, metavar="ID", help="Chain id.")
        parser.add_argument("--from", type=int, required=True, metavar="BLOCK", help="The first block.")
        parser.add_argument("--to", type=int, required=True, metavar="BLOCK", help="The last one; it must be final.")
        parser.add_argument("--verify", action="store_true", help="Check all of it then, as FOLLOW_VERIFY says.")

    def handle(self, *args: Any, **options: Any) -> None:
        chain_id, first, last = options["chain"], options["from"], options["to"]
        if first < 0:
            raise CommandError("--from must be at least 0")
        if last < first:
            raise CommandError(f"--to must be at least --from, which is {first}")
        try:
            chain, otherwise = installed_chain(chain_id), installed_chain_otherwise(chain_id)
            with _stopped_by_signals() as stop, prefetch.set_for_reading():
                patience = Patience()
                watch = Watch(stop=stop, note=patience.note, clear=patience.clear)
                backfill = Backfill(chain=chain, otherwise=otherwise, watch=watch)
                complete = backfill.run(first=first, last=last, verified=options["verify"])
        except UnsupportedChain as error:
            raise CommandError(f"--chain: {error}") from error
        except NotFinal as error:
            raise CommandError(f"--to: {error}") from error
        except (Permanent, Retryable) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"launches: {backfill.launches}, transactions: {backfill.transactions}, "
            f"repaired: {backfill.missing} missing, {backfill.invented} invented"
        )
        if not complete:
            raise CommandError("stopped before the end; the same command goes on from there")


@contextmanager
def _stopped_by_signals() -> Iterator[Event]:
    """Set when the process is told to end, which then has to end by itself: what is in work is written first."""
    stop = Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
