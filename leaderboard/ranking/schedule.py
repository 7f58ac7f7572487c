"""Ranking schedule: refresh periods, due intervals, and the process that builds them."""

import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings

from config.environment.variables import BASE_DIR
from config.postgresql.advisory_locks import advisory_lock_key
from leaderboard.models import Agent, Interval, Snapshot

# Seconds between Celery beats that look for due rankings.
_BEAT_SECONDS = 15
# Advisory lock for the process that builds a ranking.
RANKING_LOCK = advisory_lock_key("ranking making")
# Ranking ten million facts takes a minute; a build that takes this long is stuck.
_BUILD_SECONDS = 900
# Exit status of `compute_leaderboard` while another process holds the lock: EX_TEMPFAIL in sysexits.h.
LOCK_HELD_STATUS = 75
# The build that this process started last, until its end was noticed.
_builds: list[subprocess.Popen[bytes]] = []


def due_intervals(now: datetime) -> list[Interval]:
    """Return the intervals with a due ranking; none if there are no agents.

    The list starts with another interval at each beat. One ranking is built at a time, and a beat that finds the lock
    held leaves the work to the next beat. Without the rotation, an interval that is always due or always fails would
    block the others.
    """
    if not Agent.objects.exists():
        return []
    computed = dict(Snapshot.objects.filter(is_current=True).values_list("interval", "computed_at"))
    offset = int(now.timestamp()) // _BEAT_SECONDS % len(Interval)
    rotated = [*Interval][offset:] + [*Interval][:offset]
    return [
        interval
        for interval in rotated
        if interval not in computed or now - computed[interval] >= refresh_period(interval)
    ]


def refresh_period(interval: Interval) -> timedelta:
    """Return the time between two rankings for the interval."""
    return timedelta(seconds=settings.LEADERBOARD_SECONDS[interval.value])


def start_build(intervals: Sequence[Interval], *, timeout: int = _BUILD_SECONDS) -> None:
    """Start a process that builds these rankings by `compute_leaderboard`, and do not wait for its end.

    The process ends itself if one ranking takes over `timeout` seconds. Only that process loads numpy and scipy, and
    its end frees the memory for millions of facts. A worker that waited for it would run no other task for a minute;
    a single worker process would not even watch deployments.
    """
    command = [sys.executable, str(BASE_DIR / "manage.py"), "compute_leaderboard", "--timeout", str(timeout)]
    words = [word for interval in intervals for word in ("--interval", interval.value)]
    _builds.append(subprocess.Popen(command + words, stdout=subprocess.DEVNULL))


def is_building() -> bool:
    """Return whether the build that this process started last is running.

    Raises CalledProcessError, once, if it failed; a build that found the lock held has not failed.
    """
    if not _builds or _builds[0].poll() is None:
        return bool(_builds)
    build = _builds.pop()
    if build.returncode not in (0, LOCK_HELD_STATUS):
        raise subprocess.CalledProcessError(build.returncode, build.args)
    return False
