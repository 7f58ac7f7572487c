"""`manage.py compute_leaderboard`: build rankings now, before they are due."""

import argparse
import signal
import sys
from typing import Any

from django.core.management.base import BaseCommand

from config.postgresql.advisory_locks import LockHeldError
from leaderboard.models import Interval
from leaderboard.ranking import schedule, snapshot_building


class Command(BaseCommand):
    """Command for operators; workers build due rankings themselves."""

    help = "Build rankings up to now and make them current."
    requires_system_checks = ()

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--interval",
            choices=Interval.values,
            action="append",
            help="build only this ranking; may be given several times (default: all)",
        )
        parser.add_argument("--timeout", type=int, default=0, help="end after so many seconds for one ranking")

    def handle(self, *args: Any, **options: Any) -> None:
        for interval in map(Interval, options["interval"] or Interval):
            # The signal ends the process even within a computation. 0 sets no alarm.
            signal.alarm(options["timeout"])
            try:
                snapshot = snapshot_building.build_snapshot(interval)
            except LockHeldError:
                # A worker's process that finds the lock held has not failed.
                self.stdout.write("A worker is building a ranking; try again when it has finished.")
                sys.exit(schedule.LOCK_HELD_STATUS)
            self.stdout.write(f"{interval}: {snapshot.ranked} agents ranked in {snapshot.took_seconds:.1f} s")
