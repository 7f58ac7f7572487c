"""Celery application: tasks are in each room's `tasks.py`, settings in `config.settings` under `CELERY_`."""

import os
from typing import Any

from celery import Celery
from kombu.exceptions import OperationalError
from redis.exceptions import ConnectionError

from config.redis.connection import redis_client

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# Rooms of an app that have tasks of their own. Each task has an explicit name, so that its module may move.
_ROOMS = ["tokens.indexing", "tokens.catalogue", "tokens.market", "tokens.deploying"]

app = Celery("launchboard")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(_ROOMS)


def enqueue_task(task: Any, *arguments: Any, **options: Any) -> None:
    """Enqueue a task with options of `apply_async`; fail fast while the circuit breaker of Redis is open.

    Raises RedisError.
    """
    with redis_client().circuit_breaker.guard():
        try:
            task.apply_async(arguments, **options)
        except OperationalError as error:
            raise ConnectionError(str(error)) from error
