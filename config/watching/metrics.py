"""Endpoint `GET /metrics` for Prometheus, from collectors that query PostgreSQL and Redis at each scrape.

No process keeps a number, so that all web server processes return the same. Each app registers collectors in its module
`metrics`: functions that take the time and yield metrics, within milliseconds for any number of rows.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.module_loading import autodiscover_modules
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from config.api.error_handling import json_error
from config.postgresql.leased_queue import MAX_DEPTH, measure_queues
from config.postgresql.replica import has_replica, measure_replica
from config.postgresql.timeouts import statement_timeout
from config.watching.process_metrics import process_sums
from config.web.metrics_access import metrics_refusal
from config.web.response_headers import NO_STORE
from config.workers.periodic_tasks import read_periodic_tasks

logger = logging.getLogger(__name__)

# A scrape must end within Prometheus's timeout, by default 10 s.
_STATEMENT_MS = 2000


Collect = Callable[[datetime], Iterator[Metric]]

_collectors: list[Collect] = []


def register_collectors(*collectors: Collect) -> None:
    """Add collectors to each scrape; an app's module `metrics` calls this."""
    _collectors.extend(collectors)


class _Rows(Collector):
    def collect(self) -> Iterator[Metric]:
        autodiscover_modules("metrics")
        now = timezone.now()
        for collect in _collectors:
            yield from collect(now)


_REGISTRY = CollectorRegistry()
_REGISTRY.register(_Rows())


def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics to requests with METRICS_TOKEN or, if none is set, to programs on this machine.

    Other requests get 401 or, if no token is set, 404; 503 if the database fails. The host is validated: a web page
    could point its own domain at this machine, and read the response in an operator's browser. Raises DisallowedHost,
    which is 400.
    """
    request.get_host()
    refusal = _reject(request)
    if refusal is not None:
        return refusal
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    try:
        with statement_timeout(milliseconds=_STATEMENT_MS):
            body = encode(_REGISTRY)
    except DatabaseError as error:
        logger.warning("Metrics: the database failed: %s", error)
        return json_error("Service is temporarily unavailable", status_code=503)
    return HttpResponse(body, content_type=content_type, headers={"Cache-Control": NO_STORE})


def labelled_gauge(
    name: str, text: str, labels: str | Sequence[str], values: Mapping[Any, float | None]
) -> GaugeMetricFamily:
    """Return a gauge with one sample per label value, or per tuple with several labels' values; for collectors.

    Samples that are None are left out.
    """
    names = [labels] if isinstance(labels, str) else labels
    gauge = GaugeMetricFamily(name, text, labels=names)
    for value, number in values.items():
        if number is not None:
            gauge.add_metric([str(label_value) for label_value in ([value] if len(names) == 1 else value)], number)
    return gauge


def queues(now: datetime) -> Iterator[Metric]:
    """Yield each queue's depth and age."""
    sizes = measure_queues(now)
    yield labelled_gauge(
        "launchboard_queue_depth",
        f"Rows that are due and wait for a worker; counted up to {MAX_DEPTH:,} or a small multiple.",
        "queue",
        {name: size.depth for name, size in sizes.items()},
    )
    yield labelled_gauge(
        "launchboard_queue_age_seconds",
        "Seconds since the oldest of them became due; 0 without any, and for a queue that is turned off.",
        "queue",
        {name: size.age_seconds(now) for name, size in sizes.items()},
    )


def periodic_tasks(now: datetime) -> Iterator[Metric]:
    """Yield the age of each periodic task's last run; nothing without Redis."""
    try:
        tasks = read_periodic_tasks(now)
    except RedisError:
        return
    yield labelled_gauge(
        "launchboard_periodic_task_age_seconds",
        "Seconds since the task last ended without an error, or since beat first scheduled it.",
        "task",
        {task.name: task.age_seconds for task in tasks},
    )
    yield labelled_gauge(
        "launchboard_periodic_task_late",
        "1 while the task has not run for three periods and a minute.",
        "task",
        {task.name: task.is_late for task in tasks},
    )


def read_replica(now: datetime) -> Iterator[Metric]:
    """Yield the read replica's state, if there is one."""
    if not has_replica():
        return
    state = measure_replica()
    is_used = GaugeMetricFamily("launchboard_replica_used", "1 while public reads use the read replica.")
    is_used.add_metric([], state.status == "ok")
    yield is_used
    if state.lag_seconds is not None:
        lag = GaugeMetricFamily("launchboard_replica_lag_seconds", "Lag of the replica; 0 while it is up to date.")
        lag.add_metric([], state.lag_seconds)
        yield lag


def _reject(request: HttpRequest) -> HttpResponse | None:
    status_code = metrics_refusal(request.META)
    if status_code is None:
        return None
    refusal = json_error("Unauthorized" if status_code == 401 else "Not found", status_code=status_code)
    if status_code == 401:
        refusal.headers["WWW-Authenticate"] = "Bearer"
    return refusal


register_collectors(queues, periodic_tasks, read_replica, process_sums)
