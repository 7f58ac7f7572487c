"""`manage.py partitions`: list the weekly table partitions, or maintain them now."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from config.postgresql import partitions
from config.postgresql.advisory_locks import LockHeldError
from tokens.checks import CHAINS


class Command(BaseCommand):
    help = (
        "List the weekly partitions of trades, minute candles and events with their size, and what is left to maintain."
    )
    requires_system_checks = (CHAINS,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--maintain",
            action="store_true",
            help="First create those of the next weeks and drop those after their retention, as a worker does.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        if options["maintain"]:
            self._maintain()
        state = partitions.read_partition_state(now)
        for partition in state.partitions:
            note = "" if partition.is_attached else ", detached"
            self.stdout.write(f"{partition.name}: {partition.size_bytes / 2**20:,.1f} MiB{note}")
        for name in state.missing:
            self.stdout.write(f"{name}: missing")
        for name in state.expired:
            self.stdout.write(f"{name}: after its retention")

    def _maintain(self) -> None:
        try:
            created, dropped = partitions.maintain_partitions(timezone.now())
        except LockHeldError as error:
            raise CommandError("A worker is maintaining the partitions.") from error
        for name in created:
            self.stdout.write(f"{name}: created")
        for name in dropped:
            self.stdout.write(f"{name}: dropped")
