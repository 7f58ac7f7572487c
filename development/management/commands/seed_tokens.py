"""Fills a database with invented tokens, for trials at the size of production."""

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.processes.progress import Progress
from development.sample_data.token_seeding import SeedingError, load_synthetic_tokens


class Command(BaseCommand):
    help = "Load invented tokens with realistic names, senders and market data. For trials, never for production."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--count", type=int, default=1_000_000)
        parser.add_argument("--seed", type=int, default=1, help="The same seed and count give the same tokens.")
        parser.add_argument("--add", action="store_true", help="Load them beside existing tokens.")

    def handle(self, *args: Any, **options: Any) -> None:
        count, started = options["count"], time.monotonic()
        if count < 1:
            raise CommandError("--count must be at least 1")
        progress = Progress(part="loading", unit="tokens", end=count)

        def report(stage: str, done: int) -> None:
            progress.part = stage
            progress.advance(done)

        try:
            load_synthetic_tokens(count, seed=options["seed"], add=options["add"], report=report)
        except SeedingError as error:
            raise CommandError(str(error)) from error
        progress.finish()
        self.stdout.write(f"{count} tokens in {time.monotonic() - started:.0f} s")
