"""Delivery of due events by threads, of which each endpoint has a share.

An endpoint that hangs or fails costs others nothing: it has one thread, and all such endpoints together have half of
the threads.
"""

import logging
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from threading import Event as StopEvent
from threading import Lock
from typing import Self

from django.conf import settings
from django.db import Error, connection
from django.db.models import OuterRef, Q, Subquery
from django.utils import timezone

from accounts.models import WebhookDelivery, WebhookEndpoint
from accounts.subscriptions import delivery_outcomes, sending
from config.events.models import Event

logger = logging.getLogger(__name__)

# Threads of an endpoint with a fast and accepted last attempt. Others have one, for one delivery at a time.
HEALTHY_THREADS = 4
SLOW_SECONDS = 1.0
# Deliveries that a thread claims at once, of a healthy endpoint.
CLAIMED = 10
# Seconds after which a thread begins no further attempt of its claim, and those that the database may take.
_CLAIM_SECONDS, _DATABASE_SECONDS = 5.0, 10.0


class Dispatcher:
    """Threads that deliver, and their use by endpoint. `dispatch` is called by one thread."""

    def __init__(self, stop: StopEvent, *, threads: int) -> None:
        self._stop, self._threads = stop, threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="webhooks")
        self._lock = Lock()
        # Threads in use by endpoint, and those of slow endpoints.
        self._busy: Counter[int] = Counter()
        self._slow_busy = 0
        # Endpoints with a fast and accepted last attempt, and those with another one. The rest is new.
        self._healthy: set[int] = set()
        self._slow: set[int] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for the attempts under way, which end within their timeout; what is claimed besides is returned."""
        self._pool.shutdown()

    def dispatch(self) -> int:
        """Give free threads to due deliveries, a thread to each endpoint, the longest due first.

        Return how many deliveries are claimed.
        """
        now, claimed = timezone.now(), 0
        due = WebhookDelivery.objects.filter(endpoint=OuterRef("pk")).due(now)
        endpoints = (
            WebhookEndpoint.objects.active()
            .filter(Q(paused_until__isnull=True) | Q(paused_until__lte=now))
            .annotate(due_since=Subquery(due.values("due_at")[:1]))
            .filter(due_since__isnull=False)
            .order_by("due_since")
        )
        found = list(endpoints.values_list("pk", "failing_since"))
        # Those with the fewest threads first, so that a long backlog takes only what others leave.
        for endpoint_id, failing_since in sorted(found, key=lambda row: self._busy[row[0]]):
            is_slow = failing_since is not None or endpoint_id in self._slow
            if not self._take_thread(endpoint_id, is_slow=is_slow):
                continue
            deliveries: list[WebhookDelivery] = []
            try:
                queue = WebhookDelivery.objects.filter(endpoint=endpoint_id)
                deliveries = queue.claim(now, lease=_lease(), count=CLAIMED if endpoint_id in self._healthy else 1)
            finally:
                if not deliveries:
                    self._release_thread(endpoint_id, is_slow=is_slow)
            if deliveries:
                work = self._pool.submit(self._deliver, endpoint_id, deliveries)
                work.add_done_callback(partial(self._end, endpoint_id, is_slow))
            claimed += len(deliveries)
        return claimed

    def _take_thread(self, endpoint_id: int, *, is_slow: bool) -> bool:
        """Take a thread of the endpoint's share; return False if there is none."""
        with self._lock:
            has_share = self._busy[endpoint_id] < (HEALTHY_THREADS if endpoint_id in self._healthy else 1)
            is_free = self._busy.total() < self._threads and not (is_slow and self._slow_busy >= self._threads // 2)
            if has_share and is_free:
                self._busy[endpoint_id] += 1
                self._slow_busy += is_slow
            return has_share and is_free

    def _release_thread(self, endpoint_id: int, *, is_slow: bool) -> None:
        with self._lock:
            self._busy[endpoint_id] -= 1
            self._slow_busy -= is_slow
            if not self._busy[endpoint_id]:
                del self._busy[endpoint_id]

    def _end(self, endpoint_id: int, is_slow: bool, work: Future[None]) -> None:
        self._release_thread(endpoint_id, is_slow=is_slow)
        error = work.exception()
        # Its deliveries are due again when their lease ends.
        if isinstance(error, Error):
            reason = " ".join(str(error).split())
            logger.warning("webhook endpoint %s: the database failed: %s", endpoint_id, reason)
        elif error is not None:
            logger.error("deliveries to webhook endpoint %s failed", endpoint_id, exc_info=error)

    def _deliver(self, endpoint_id: int, deliveries: Sequence[WebhookDelivery]) -> None:
        """Deliver one after another; the first failure returns the rest to the queue."""
        try:
            left = self._deliver_all(endpoint_id, deliveries)
            if left:
                WebhookDelivery.objects.held(left).release(due_at=timezone.now())
        finally:
            # Of this thread, which may have no work for long.
            connection.close()

    def _deliver_all(self, endpoint_id: int, deliveries: Sequence[WebhookDelivery]) -> Sequence[WebhookDelivery]:
        """Return the deliveries that are left."""
        endpoint = WebhookEndpoint.objects.active().filter(pk=endpoint_id).first()
        if endpoint is None:
            return deliveries
        events = Event.objects.in_bulk([each.event_id for each in deliveries if each.event_id is not None])
        deadline = time.monotonic() + _CLAIM_SECONDS
        for number, delivery in enumerate(deliveries):
            if self._stop.is_set() or time.monotonic() > deadline:
                return deliveries[number:]
            event = None if delivery.event_id is None else events.get(delivery.event_id)
            if event is None and delivery.event_id is not None:
                delivery_outcomes.store_missing_event(delivery)
                continue
            attempt = sending.send_delivery(endpoint, delivery, event)
            delivery_outcomes.store_attempt(delivery, endpoint, attempt)
            if not attempt.succeeded or attempt.milliseconds > 1000 * SLOW_SECONDS:
                self._healthy.discard(endpoint_id)
                self._slow.add(endpoint_id)
                return deliveries[number + 1 :]
            self._slow.discard(endpoint_id)
            self._healthy.add(endpoint_id)
        return ()


def _lease() -> timedelta:
    """Return a lease longer than a claim is worked on. After a kill, its deliveries are due again at its end."""
    return timedelta(seconds=_CLAIM_SECONDS + settings.WEBHOOK_TIMEOUT_SECONDS + _DATABASE_SECONDS)
