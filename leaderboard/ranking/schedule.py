"""Schedule of rankings: refresh periods, the intervals that are due, and the process that builds one."""

import subprocess
import sys
from datetime import datetime, timedelta

from django.conf import settings

from config.environment.variables import BASE_DIR
from config.postgresql.advisory_locks import advisory_lock_key
from leaderboard.models import Agent, Interval, Snapshot

# Period of the Celery beat that looks for due rankings.
_BEAT_SECONDS = 15
# Advisory lock of the process that builds a ranking.
RANKING_LOCK = advisory_lock_key("ranking making")
# Exit status of `compute_leaderboard` while another process holds the lock: EX_TEMPFAIL of sysexits.h.
LOCK_HELD_STATUS = 75


def due_intervals(now: datetime) -> list[Interval]:
    """Return the intervals with a due ranking; none if there are no agents.

    The list starts with another interval at each beat. One ranking is built at a time, and a beat that finds the lock
    taken defers to the next. Without the rotation, an interval that is always due or always fails would block the
    others.
    """
    if not Agent.objects.exists():
        return []
    computed = dict(Snapshot.objects.filter(is_current=True).values_list("interval", "computed_at"))
    first = int(now.timestamp()) // _BEAT_SECONDS % len(Interval)
    rotated = [*Interval][first:] + [*Interval][:first]
    return [
        interval
        for interval in rotated
        if interval not in computed or now - computed[interval] >= refresh_period(interval)
    ]


def refresh_period(interval: Interval) -> timedelta:
    """Return how often a ranking of the interval is built."""
    return timedelta(seconds=settings.LEADERBOARD_SECONDS[interval.value])


def build_in_own_process(interval: Interval) -> None:
    """Build a ranking by `compute_leaderboard`; a build that holds the lock is no error.

    Only that process loads numpy and scipy, and the memory of millions of facts is free when it ends. Raises
    CalledProcessError if it fails. An exception in this process, such as a task's time limit, kills it.
    """
    command = [sys.executable, str(BASE_DIR / "manage.py"), "compute_leaderboard", "--interval", interval.value]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    if done.returncode != LOCK_HELD_STATUS:
        done.check_returncode()
