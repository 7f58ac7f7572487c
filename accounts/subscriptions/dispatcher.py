"""Delivery of due events by threads: each endpoint and each owner has a share.

An endpoint is new until this process has delivered to it FAST_ATTEMPTS times in a row without a failure or a wait, then
healthy. It is slow once an attempt fails or takes over SLOW_SECONDS, also while that attempt runs. New and slow ones
may hang: each has one thread, and an owner's together have an eighth of the threads. All slow ones have half of the
threads, slow and new ones together three quarters. So a quarter is always left to healthy ones.

A healthy endpoint may begin to hang, too. So an owner takes no more threads than remain free: one owner has half of
them at most, and leaves a thread to the next. Many owners' endpoints may begin to hang together. So an attempt that
takes over REPLACED_SECONDS is replaced by a thread for an owner without one, up to twice the threads in all. The shares
for new and slow endpoints count these threads, too.
"""

import logging
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from functools import partial
from operator import itemgetter
from threading import Event as StopEvent
from threading import Event as WakeEvent
from threading import Lock
from typing import Self

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import OuterRef, Q, Subquery
from django.utils import timezone

from accounts.models import WebhookDelivery, WebhookEndpoint
from accounts.subscriptions import delivery_outcomes, sending
from config.events.models import Event
from config.http.request_ids import begin_request, current_request_id

logger = logging.getLogger(__name__)

# Threads for a healthy endpoint. Others have one, for one delivery at a time.
HEALTHY_THREADS = 4
# Accepted deliveries in a row, each within SLOW_SECONDS, that make an endpoint healthy.
FAST_ATTEMPTS = 5
SLOW_SECONDS = 1.0
# Others may wait until then while endpoints begin to hang.
REPLACED_SECONDS = 0.1
# Deliveries that a thread claims at once for a healthy endpoint.
CLAIMED = 10
# Seconds after which a look ends, so that what became due meanwhile is in the next one.
_LOOK_SECONDS = 0.05
# A thread begins no further attempt in its claim after this many seconds; the database may take this many.
_CLAIM_SECONDS, _DATABASE_SECONDS = 5.0, 10.0


class _Health(Enum):
    """An endpoint's health, by its attempts in this process."""

    NEW = 0
    HEALTHY = 1
    SLOW = 2


@dataclass(eq=False, slots=True)
class _ThreadUse:
    """Thread in use for an endpoint."""

    endpoint_id: int
    owner: int
    # Monotonic time at which the attempt under way began.
    attempt_began: float | None = None

    def is_longer_than(self, seconds: float) -> bool:
        """Return whether the attempt under way takes over these seconds."""
        began = self.attempt_began
        return began is not None and time.monotonic() - began > seconds


class Dispatcher:
    """Threads that deliver, and their use by endpoint. `dispatch` is called by one thread."""

    def __init__(self, stop: StopEvent, *, threads: int) -> None:
        self._stop, self._threads = stop, threads
        # Set when deliveries may have become due or a thread free, until the next look.
        self.look = WakeEvent()
        self._pool = ThreadPoolExecutor(2 * threads, thread_name_prefix="webhooks")
        # The threads keep their connections: opening one takes as long as a delivery.
        self._connections: set[BaseDatabaseWrapper] = set()
        self._lock = Lock()
        self._uses: list[_ThreadUse] = []
        # Endpoint -> its fast attempts in a row; 0 after a slow or failed one.
        self._fast_attempts: dict[int, int] = {}
        # Owner, and endpoint -> monotonic time of the last claim.
        self._owner_served: dict[int, float] = {}
        self._endpoint_served: dict[int, float] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for the attempts under way, which end within their timeout; what is claimed besides is returned."""
        self._pool.shutdown()
        for database in self._connections:
            database.inc_thread_sharing()
            database.close()

    def dispatch(self) -> int:
        """Give free threads to due deliveries, a thread to each endpoint, the longest due first.

        Return how many deliveries are claimed.
        """
        self.look.clear()
        now, claimed = timezone.now(), 0
        due = WebhookDelivery.objects.filter(endpoint=OuterRef("pk")).due(now)
        endpoints = (
            WebhookEndpoint.objects.active()
            .filter(Q(paused_until__isnull=True) | Q(paused_until__lte=now))
            .annotate(due_since=Subquery(due.values("due_at")[:1]))
            .filter(due_since__isnull=False)
            .order_by("due_since")
        )
        # An operator's endpoint is a separate owner.
        due_endpoints = [
            (pk, partner_key_id or -pk) for pk, partner_key_id in endpoints.values_list("pk", "partner_key_id")
        ]
        end = time.monotonic() + _LOOK_SECONDS
        for endpoint_id, owner in self._in_turn(due_endpoints):
            if claimed and time.monotonic() > end:
                break
            use = _ThreadUse(endpoint_id, owner)
            health = self._take_thread(use)
            if health is None:
                continue
            deliveries: list[WebhookDelivery] = []
            try:
                queue = WebhookDelivery.objects.filter(endpoint=endpoint_id)
                deliveries = queue.claim(now, lease=_lease(), count=CLAIMED if health is _Health.HEALTHY else 1)
            finally:
                if not deliveries:
                    self._release_thread(use)
            if deliveries:
                self._owner_served[owner] = self._endpoint_served[endpoint_id] = time.monotonic()
                work = self._pool.submit(self._deliver, use, deliveries)
                work.add_done_callback(partial(self._end, use, current_request_id()))
            claimed += len(deliveries)
        return claimed

    def _in_turn(self, endpoints: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return endpoints with their owners, each owner's first one before the second ones.

        Owners with the fewest threads are first, so that a long backlog takes only what others leave; with equal
        threads, the owner that has waited the longest. An owner's endpoints are sorted likewise, but after a slow or
        failed attempt an endpoint is behind the others: endpoints that hang leave threads to the rest.
        """
        uses = list(self._uses)
        busy, turns = Counter(use.endpoint_id for use in uses), Counter(use.owner for use in uses)
        in_turn = []

        def rank(endpoint: tuple[int, int]) -> tuple[int, bool, float]:
            endpoint_id, _ = endpoint
            is_slow = self._fast_attempts.get(endpoint_id) == 0
            return busy[endpoint_id], is_slow, self._endpoint_served.get(endpoint_id, 0.0)

        for endpoint_id, owner in sorted(endpoints, key=rank):
            turns[owner] += 1
            in_turn.append((turns[owner], self._owner_served.get(owner, 0.0), (endpoint_id, owner)))
        return [endpoint for _, _, endpoint in sorted(in_turn, key=itemgetter(0, 1))]

    def _take_thread(self, use: _ThreadUse) -> _Health | None:
        """Take a thread from the endpoint's share; return the endpoint's health, or None if there is no thread."""
        with self._lock:
            health = self._health_of(use.endpoint_id)
            if not self._has_share(use, health):
                return None
            self._uses.append(use)
            return health

    def _has_share(self, use: _ThreadUse, health: _Health) -> bool:
        own_count = sum(thread_use.endpoint_id == use.endpoint_id for thread_use in self._uses)
        owner_uses = [thread_use for thread_use in self._uses if thread_use.owner == use.owner]
        longer = 0 if owner_uses else sum(thread_use.is_longer_than(REPLACED_SECONDS) for thread_use in self._uses)
        threads = self._threads + min(longer, self._threads)
        if len(owner_uses) >= threads - len(self._uses):
            return False
        if health is _Health.HEALTHY:
            return own_count < HEALTHY_THREADS
        unproven = [
            thread_use for thread_use in self._uses if self._health_of(thread_use.endpoint_id) is not _Health.HEALTHY
        ]
        slow = sum(self._health_of(thread_use.endpoint_id) is _Health.SLOW for thread_use in unproven)
        return (
            own_count == 0
            and sum(thread_use.owner == use.owner for thread_use in unproven) < max(1, self._threads // 8)
            and len(unproven) < max(1, threads * 3 // 4)
            and (health is _Health.NEW or slow < max(1, threads // 2))
        )

    def _health_of(self, endpoint_id: int) -> _Health:
        fast_attempts = self._fast_attempts.get(endpoint_id)
        uses = (use for use in self._uses if use.endpoint_id == endpoint_id)
        if fast_attempts == 0 or any(use.is_longer_than(SLOW_SECONDS) for use in uses):
            return _Health.SLOW
        return _Health.HEALTHY if (fast_attempts or 0) >= FAST_ATTEMPTS else _Health.NEW

    def _release_thread(self, use: _ThreadUse) -> None:
        with self._lock:
            self._uses.remove(use)

    def _end(self, use: _ThreadUse, request_id: str, work: Future[None]) -> None:
        begin_request(request_id)
        self._release_thread(use)
        self.look.set()
        endpoint_id, error = use.endpoint_id, work.exception()
        # Its deliveries are due again when their lease ends.
        if isinstance(error, OperationalError | InterfaceError):
            reason = " ".join(str(error).split())
            logger.warning("webhook endpoint %s: the database failed: %s", endpoint_id, reason)
        elif error is not None:
            self._fast_attempts[endpoint_id] = 0
            logger.error("deliveries to webhook endpoint %s failed", endpoint_id, exc_info=error)

    def _deliver(self, use: _ThreadUse, deliveries: Sequence[WebhookDelivery]) -> None:
        """Deliver one after another; the first failure returns the rest to the queue."""
        self._connections.add(connections[DEFAULT_DB_ALIAS])
        try:
            unsent = self._deliver_all(use, deliveries)
            if unsent:
                WebhookDelivery.objects.held(unsent).release(due_at=timezone.now())
        finally:
            connection.close_if_unusable_or_obsolete()

    def _deliver_all(self, use: _ThreadUse, deliveries: Sequence[WebhookDelivery]) -> Sequence[WebhookDelivery]:
        """Return the deliveries that are left."""
        endpoint_id = use.endpoint_id
        endpoint = WebhookEndpoint.objects.active().filter(pk=endpoint_id).first()
        if endpoint is None:
            return deliveries
        events = Event.objects.in_bulk([delivery.event_id for delivery in deliveries if delivery.event_id is not None])
        deadline = time.monotonic() + _CLAIM_SECONDS
        for number, delivery in enumerate(deliveries):
            if self._stop.is_set() or time.monotonic() > deadline:
                return deliveries[number:]
            # The receiver has this id, too, in `webhook-id`: its log and ours can be compared.
            begin_request(sending.message_id(delivery))
            event = None if delivery.event_id is None else events.get(delivery.event_id)
            if event is None and delivery.event_id is not None:
                delivery_outcomes.store_missing_event(delivery)
                continue
            use.attempt_began = time.monotonic()
            attempt = sending.send_delivery(endpoint, delivery, event)
            use.attempt_began = None
            is_fast = attempt.succeeded and attempt.milliseconds <= 1000 * SLOW_SECONDS
            # Before the outcome is stored: the delivery is due again from then on.
            self._fast_attempts[endpoint_id] = self._fast_attempts.get(endpoint_id, 0) + 1 if is_fast else 0
            delivery_outcomes.store_attempt(delivery, endpoint, attempt)
            if not is_fast:
                return deliveries[number + 1 :]
        return ()


def _lease() -> timedelta:
    """Return a lease longer than a claim is worked on. After a kill, its deliveries are due again at its end."""
    return timedelta(seconds=_CLAIM_SECONDS + settings.WEBHOOK_TIMEOUT_SECONDS + _DATABASE_SECONDS)
