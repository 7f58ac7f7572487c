"""`manage.py compute_leaderboard`: make rankings now, before they are due."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.postgresql.advisory_locks import HeldElsewhere
from leaderboard.models import Interval
from leaderboard.ranking import snapshot_building


class Command(BaseCommand):
    """The door for operators; workers make what is due by themselves."""

    help = "Rank the agents by what happened up to now, and switch to the new rankings."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--interval", choices=Interval.values, help="this ranking alone; by default all of them")

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = options["interval"]
        for interval in [Interval(chosen)] if chosen else Interval:
            try:
                snapshot = snapshot_building.compute(interval)
            except HeldElsewhere as error:
                raise CommandError("a worker is making a ranking; try again when it is done") from error
            self.stdout.write(f"{interval}: {snapshot.ranked} agents ranked in {snapshot.took_seconds:.1f} s")
