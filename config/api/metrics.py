"""`GET /metrics` for Prometheus: what the apps' collectors read when it is scraped.

Every number comes from PostgreSQL or Redis, so that any process of the web server tells the same. METRICS_COLLECTORS
lists the collectors: functions that take the time and make metrics, in milliseconds however many rows there are.
"""

import hmac
import logging
from collections.abc import Callable, Iterator
from datetime import datetime

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.module_loading import import_string
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from config.api.client_ip import is_on_loopback
from config.api.error_handling import json_error
from config.api.response_headers import NEVER_STORED
from config.postgresql.timeouts import limited

logger = logging.getLogger(__name__)

# A scrape is to take no longer than Prometheus waits, by default 10 s.
_STATEMENT_MS = 2000


class _Rows(Collector):
    def collect(self) -> Iterator[Metric]:
        now = timezone.now()
        for path in settings.METRICS_COLLECTORS:
            make: Callable[[datetime], Iterator[Metric]] = import_string(path)
            yield from make(now)


_REGISTRY = CollectorRegistry()
_REGISTRY.register(_Rows())


def metrics(request: HttpRequest) -> HttpResponse:
    """The numbers for who has METRICS_TOKEN or, where none is set, for programs of this machine.

    Anybody else gets 401 or, where none is set, 404; 503 where the database fails.
    """
    refusal = _refuse(request)
    if refusal is not None:
        return refusal
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    try:
        with limited(milliseconds=_STATEMENT_MS):
            body = encode(_REGISTRY)
    except DatabaseError as error:
        logger.error("Metrics: the database failed: %s", error)
        return json_error("Service is temporarily unavailable", status_code=503)
    return HttpResponse(body, content_type=content_type, headers={"Cache-Control": NEVER_STORED})


def _refuse(request: HttpRequest) -> HttpResponse | None:
    token: str = settings.METRICS_TOKEN
    if not token:
        # Nobody else need know that there is something.
        return None if is_on_loopback(request) else json_error("Not found", status_code=404)
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode()):
        return None
    refusal = json_error("Unauthorized", status_code=401)
    refusal.headers["WWW-Authenticate"] = "Bearer"
    return refusal
