"""Fills a database with invented tokens, for trials at the size of production."""

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser, OutputWrapper

from development.sample_data.token_seeding import SeedUsedError, TokensPresentError, load_synthetic_tokens

_BAR_WIDTH = 30
_STEP_PERCENT = 5


class Command(BaseCommand):
    help = "Load invented tokens with realistic names, senders and market data. For trials, never for production."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--count", type=int, default=1_000_000)
        parser.add_argument("--seed", type=int, default=1, help="The same seed and count give the same tokens.")
        parser.add_argument("--add", action="store_true", help="Load them beside existing tokens.")

    def handle(self, *args: Any, **options: Any) -> None:
        count = options["count"]
        if count < 1:
            raise CommandError("--count must be at least 1")
        progress = _Progress(self.stdout, count)
        try:
            load_synthetic_tokens(count, seed=options["seed"], add=options["add"], report=progress.report)
        except TokensPresentError as error:
            raise CommandError("there are tokens already: --add loads more beside them") from error
        except SeedUsedError as error:
            raise CommandError("the tokens of this seed are there already: choose another --seed") from error
        progress.finish()


class _Progress:
    """Progress bar on a terminal; elsewhere one line per step."""

    def __init__(self, output: OutputWrapper, count: int) -> None:
        self._output, self._count = output, count
        self._started = time.monotonic()
        self._is_terminal = output.isatty()
        self._last_line = ""

    def report(self, stage: str, done: int) -> None:
        percent = done * 100 // self._count
        if self._is_terminal:
            filled = _BAR_WIDTH * done // self._count
            bar = "#" * filled + "-" * (_BAR_WIDTH - filled)
            self._output.write(f"\r[{bar}] {percent:3} % {self._seconds():5.0f} s  {stage:24}", ending="")
            self._output.flush()
            return
        line = f"{stage}, {percent - percent % _STEP_PERCENT} %" if stage == "loading" else stage
        if line != self._last_line:
            self._last_line = line
            self._output.write(f"{self._seconds():5.0f} s  {line}")

    def finish(self) -> None:
        end = "\n" if self._is_terminal else ""
        self._output.write(f"{end}{self._count} tokens in {self._seconds():.0f} s")

    def _seconds(self) -> float:
        return time.monotonic() - self._started
