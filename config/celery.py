"""Celery application: tasks are in each room's `tasks.py`, settings in `config.settings` under `CELERY_`."""

import math
import os
import time
from contextlib import suppress
from contextvars import ContextVar
from functools import cached_property
from typing import Any

import django
from celery import Celery, Task
from celery.apps.beat import Beat
from celery.beat import Scheduler
from celery.states import SUCCESS
from django.utils import timezone
from kombu.exceptions import OperationalError
from redis.exceptions import ConnectionError, RedisError

from config.http.process_sums import add_duration, add_to_sum
from config.http.request_ids import begin_request, current_request_id
from config.processes.heartbeats import INTERVAL_SECONDS, Heartbeat
from config.redis.connection import redis_client
from config.redis.stored_sums import start_storing_sums
from config.workers.broker import is_waiting
from config.workers.consumption import WorkerHeartbeat
from config.workers.periodic_tasks import record_run, record_schedule

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Celery ignores the system checks' messages, and the checks load every URL and admin page.
os.environ["CELERY_SKIP_CHECKS"] = "1"

# App rooms with their own tasks. Each task has an explicit name, so that its module may move.
_ROOMS = [
    "tokens.indexing",
    "tokens.catalogue",
    "tokens.market",
    "tokens.trades",
    "tokens.deploying",
    "tokens.fees",
    "tokens.site.pictures",
]


class NamedTaskBeat(Beat):
    """Beat that sends tasks by name: it imports no task, and so no library that tasks need."""

    def init_loader(self) -> None:
        django.setup()
        app.finalize()


# The current task's start, on the monotonic clock.
_begun: ContextVar[float] = ContextVar("task_begun")
# Message header with the sender's request id.
_ID_HEADER = "request_id"


class RequestTask(Task[..., Any]):
    """Task that runs with its message's request id; a message without one, such as beat's, gets a new id."""

    def before_start(self, task_id: str, args: Any, kwargs: Any) -> None:
        """Set the id. The process's next task replaces it, so that a failure report has it, too."""
        begin_request(str(getattr(self.request, _ID_HEADER, None) or ""))
        start_storing_sums()
        _begun.set(time.monotonic())

    def after_return(self, status: str, retval: Any, task_id: str, args: Any, kwargs: Any, einfo: Any) -> None:
        """Count the task by its state, such as SUCCESS or FAILURE."""
        name = str(self.name)
        add_to_sum(("tasks", name, status.lower()))
        add_duration("task_seconds", name, seconds=time.monotonic() - _begun.get())
        if status == SUCCESS:
            # Without Redis the task counts as late, as all tasks then do; the client has logged the failure.
            with suppress(RedisError):
                record_run(name, timezone.now())


class LaunchboardCelery(Celery):
    """Celery with our beat, and with request ids in all messages."""

    task_cls = "config.celery:RequestTask"

    def send_task(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Send a task, by name or by `apply_async`, with the current request id."""
        request_id = current_request_id()
        if request_id:
            options["headers"] = {**(options.get("headers") or {}), _ID_HEADER: request_id}
        return super().send_task(name, *arguments, **options)

    @cached_property
    def Beat(self) -> type[Beat]:
        beat: type[Beat] = self.subclass_with_self(NamedTaskBeat)
        return beat


class HeartbeatScheduler(Scheduler):
    """Beat scheduler in memory, with a heartbeat: the tasks themselves are due again after a restart.

    At most one message per task waits. Messages need no expiry then, so that busy workers run every task late instead
    of dropping all its messages.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._heartbeat = Heartbeat("beat")
        self._recorded_at = -math.inf

    def tick(self, *args: Any, **options: Any) -> float:
        """Send what is due, and return the seconds until the next tick."""
        self._heartbeat.beat()
        if time.monotonic() - self._recorded_at >= INTERVAL_SECONDS:
            self._recorded_at = time.monotonic()
            with suppress(RedisError):
                record_schedule(timezone.now())
        seconds: float = super().tick(*args, **options)
        return seconds

    def apply_async(self, entry: Any, *args: Any, **options: Any) -> Any:
        """Send a task unless one of its messages waits, or Redis does not respond. Raises SchedulingError."""
        try:
            if is_waiting(entry.task):
                return None
        except RedisError:
            # The client has logged it. The next period is soon enough.
            return None
        return super().apply_async(entry, *args, **options)


app = LaunchboardCelery("launchboard")
app.steps["worker"].add(WorkerHeartbeat)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(_ROOMS)
# A process does not start if the client rejects an option in REDIS_URL.
redis_client()


def enqueue_task(task: Any, *arguments: Any, **options: Any) -> None:
    """Enqueue a task with options for `apply_async`; fail fast while the Redis circuit breaker is open.

    Raises RedisError.
    """
    with redis_client().circuit_breaker.guard():
        try:
            task.apply_async(arguments, **options)
        except OperationalError as error:
            raise ConnectionError(str(error)) from error


def enqueue_unless_waiting(task: Any, *arguments: Any) -> None:
    """Enqueue a task unless a message with the same arguments waits. Raises RedisError."""
    if not is_waiting(task.name, arguments):
        enqueue_task(task, *arguments)
