"""Poller for new events, which connects again after database failures, and what the live clients get."""

import asyncio
import logging
import time
from itertools import cycle

import psycopg

from config.events.stream.event_hub import KEPT_EVENTS, EventHub
from config.events.stream.event_reading import EventReader
from config.http.backoff import Backoff
from config.http.request_ids import begin_request

logger = logging.getLogger(__name__)

# Seconds between polls without a full page: on average half is added to an event's latency.
_POLL_SECONDS = 0.02
_POLL_EVENTS = 500
# Seconds for one round of turns: at most this is added as well, and it bounds what many events cost.
_ROUND_SECONDS = 0.18
_BACKOFF = Backoff(first=0.1, longest=3)


class LogPoller:
    """Loop that gives new events to the hub."""

    def __init__(self, hub: EventHub, reader: EventReader) -> None:
        self._hub, self._reader = hub, reader
        # Monotonic time of the last poll that succeeded.
        self.polled_at = time.monotonic()

    async def run(self) -> None:
        """Poll until the task is cancelled."""
        failures = 0
        while True:
            begin_request()
            try:
                if not self._reader.is_connected:
                    await self._begin()
                is_complete = await self._poll()
            except psycopg.Error as error:
                failures += 1
                if failures == 1:
                    _log_failure(error)
                await asyncio.sleep(_BACKOFF.delay(failures))
                continue
            if failures:
                logger.info("The database responds again")
                failures = 0
            self.polled_at = time.monotonic()
            await asyncio.sleep(_POLL_SECONDS if is_complete else 0)

    async def _begin(self) -> None:
        """Read the newest events again at the start, and if the database was replaced by an older one."""
        newest = await self._reader.newest_id()
        if not self._hub.is_ready or newest < self._hub.newest:
            # Before the oldest event, history may be lost, which the clients' own reads detect.
            self._hub.start_after(max(0, newest - KEPT_EVENTS, await self._reader.oldest_id() - 1))

    async def _poll(self) -> bool:
        """Keep a page in the hub, and return whether it had all new events."""
        rows = await self._reader.fetch_new(after=self._hub.newest, limit=_POLL_EVENTS)
        if rows:
            self._hub.keep(rows)
        is_complete = len(rows) < _POLL_EVENTS
        self._hub.is_ready |= is_complete
        return is_complete


def _log_failure(error: psycopg.Error) -> None:
    text = "The database failed, and is polled again every %g s: %s"
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        logger.warning(text, _BACKOFF.longest, error)
    else:
        logger.error(text, _BACKOFF.longest, error, exc_info=error)


async def serve_turns(hub: EventHub) -> None:
    """Serve one turn after another, all in _ROUND_SECONDS, until the task is cancelled."""
    now = due = time.monotonic()
    for turn in cycle(hub.turns):
        due = max(due + _ROUND_SECONDS / len(hub.turns), now)
        await asyncio.sleep(due - now)
        hub.serve(turn)
        now = time.monotonic()


async def send_heartbeats(hub: EventHub, *, seconds: float) -> None:
    """Send a heartbeat to each live client every `seconds`, turn by turn, until the task is cancelled."""
    while True:
        for turn in hub.turns:
            await asyncio.sleep(seconds / len(hub.turns))
            turn.send_heartbeat()
