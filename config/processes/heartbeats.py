"""Heartbeats for processes without a port: `deploy/check` compares file times with the clock.

Without HEARTBEAT_DIR there are none. Each loop in a process has a file, and a process is alive while all its files are
fresh. No file depends on another server: an outage must not make an orchestrator restart the processes that wait for
its end.
"""

import time
from pathlib import Path

from django.conf import settings

# Seconds between two writes to a file; `deploy/check` tolerates many of them.
INTERVAL_SECONDS = 5.0
# An older file is stale, there and for `manage.py doctor`.
STALE_SECONDS = 120.0


class Heartbeat:
    """One loop's heartbeat."""

    def __init__(self, name: str) -> None:
        """Make the file at once: a loop that hangs in its first round is found, too. Raises OSError."""
        directory: Path | None = settings.HEARTBEAT_DIR
        self._file = directory / name if directory else None
        self._due = 0.0
        if directory:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.beat()

    def beat(self) -> None:
        """Set the file's time to now, at most once per interval; the loop calls this in each round. Raises OSError."""
        now = time.monotonic()
        if self._file and now >= self._due:
            self._due = now + INTERVAL_SECONDS
            self._file.touch()
