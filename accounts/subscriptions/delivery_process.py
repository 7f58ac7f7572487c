"""The process that publishes events and delivers them: two loops, which go on after a database error."""

import logging
from collections.abc import Callable
from threading import Event as StopEvent
from threading import Event as WakeEvent
from threading import Thread

from django.conf import settings
from django.db import Error, InterfaceError, OperationalError, connection

from accounts.subscriptions.deliveries import publish_and_queue
from accounts.subscriptions.dispatcher import Dispatcher
from config.http.request_ids import begin_request
from config.processes.heartbeats import Heartbeat

logger = logging.getLogger(__name__)

# Seconds between two looks for committed events, and at most for due deliveries; each takes two short queries.
_PUBLISH_SECONDS, _DELIVER_SECONDS = 0.03, 0.1
# Seconds after a database error.
_ERROR_SECONDS = 1.0


def deliver_events(stop: StopEvent) -> None:
    """Publish and deliver events until the stop. Several processes share the deliveries, and one publishes."""
    with Dispatcher(stop, threads=settings.WEBHOOK_THREADS) as dispatcher:
        publisher = Thread(target=_publish, args=(stop, dispatcher.look), name="publisher", daemon=True)
        publisher.start()
        _repeat(dispatcher.dispatch, stop, dispatcher.look, _DELIVER_SECONDS)
    publisher.join()


def _publish(stop: StopEvent, published: WakeEvent) -> None:
    try:
        _repeat(publish_and_queue, stop, stop, _PUBLISH_SECONDS, on_progress=published.set)
    finally:
        # After a fault the process ends, to be started again.
        stop.set()


def _repeat(
    step: Callable[[], int],
    stop: StopEvent,
    wake: WakeEvent,
    seconds: float,
    *,
    on_progress: Callable[[], None] = lambda: None,
) -> None:
    """Repeat a step until the stop: at once after progress, which is reported, else on `wake` or after a pause."""
    heartbeat = Heartbeat(step.__name__)
    while not stop.is_set():
        heartbeat.beat()
        begin_request()
        try:
            if step():
                on_progress()
            else:
                wake.wait(seconds)
        except Error as error:
            reason = " ".join(str(error).split())
            if isinstance(error, OperationalError | InterfaceError):
                logger.warning("events: the database failed: %s", reason)
            else:
                logger.exception("events: the database failed: %s", reason)
            connection.close()
            stop.wait(_ERROR_SECONDS)
    connection.close()
