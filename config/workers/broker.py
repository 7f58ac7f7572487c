"""Celery's messages in Redis: those that wait in a queue, and acknowledgements that survive a closed connection."""

from collections.abc import Callable
from typing import Any

import orjson
from django.conf import settings
from kombu.transport.redis import Channel, QoS

from config.redis.connection import redis_client

# A longer queue is not searched: each of its messages counts as waiting.
MAX_SEARCHED = 1_000


def queue_of(task: str) -> str:
    """Return the queue for a task's messages."""
    routes: dict[str, dict[str, str]] = settings.CELERY_TASK_ROUTES
    return routes.get(task, {}).get("queue", "celery")


def is_waiting(task: str, arguments: tuple[Any, ...] = ()) -> bool:
    """Return whether a message for this task with these arguments waits in its queue. Raises RedisError."""
    messages = redis_client().lrange(queue_of(task), 0, MAX_SEARCHED)
    if len(messages) > MAX_SEARCHED:
        return True
    headers = (orjson.loads(message)["headers"] for message in messages)
    return any((header["task"], header["argsrepr"]) == (task, repr(arguments)) for header in headers)


def count_waiting(queues: list[str]) -> int:
    """Return the number of messages that wait in these queues. Raises RedisError."""
    with redis_client().pipeline(transaction=False) as pipeline:
        for queue in queues:
            pipeline.llen(queue)
        return sum(pipeline.execute())


class ReleasingQoS(QoS):
    """A channel's prefetch credits, which a failed acknowledgement releases, too.

    Kombu keeps a message's credit if its acknowledgement fails, and Celery only logs that failure: a worker with
    one process would consume nothing more. A message that stays unacknowledged is delivered again after an hour, and
    every task is safe to run twice.
    """

    # Not annotated by kombu: its channel, and the method that releases a credit.
    channel: Any
    _quick_ack: Callable[[str], None]

    def ack(self, delivery_tag: str) -> None:
        """Acknowledge a message, on a second connection if the first one fails. Raises the second one's error."""
        self._quick_ack(delivery_tag)
        try:
            super().ack(delivery_tag)
        except self.channel.connection_errors:
            super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Reject a message. Raises the connection's error."""
        self._quick_ack(delivery_tag)
        super().reject(delivery_tag, requeue=requeue)


def release_failed_credits() -> None:
    """Let this process's channels release the credits for failed acknowledgements, from the next connection on."""
    Channel.QoS = ReleasingQoS
