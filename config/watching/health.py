"""Health and readiness probes for load balancers and orchestrators.

Probes are handled before the host is validated and before any redirect to HTTPS, because they use the IP address and
plain HTTP. So `probe_middleware` is before all such middleware in MIDDLEWARE. Metrics scrapes are handled there, too,
after their host was validated. A failure's cause is only logged.
"""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol

from django.conf import settings
from django.db import DatabaseError, ProgrammingError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone
from django.utils.module_loading import import_string
from redis import Redis, RedisError
from rest_framework.exceptions import ValidationError

from config.api.error_handling import error_body
from config.api.rendering import render_json
from config.postgresql.replica import has_replica, measure_replica
from config.postgresql.schema_state import applied_migrations, known_migrations
from config.postgresql.timeouts import limit_statements, statement_timeout
from config.redis.connection import PREFIX, redis_client
from config.watching.metrics import metrics
from config.web.response_headers import NO_STORE

logger = logging.getLogger(__name__)

# libpq uses whole seconds and rounds 1 up to 2.
_DATABASE_CONNECT_SECONDS = 2
_DATABASE_STATEMENT_MS = 1000
_READINESS_KEY = f"{PREFIX}readiness"


class ReadinessDetail(Protocol):
    """Optional part of the readiness response: whether it passed, and its body.

    READINESS_DETAILS lists, by query parameter, the functions that return them. They get the parameter's text and
    the time, and may raise ValidationError.
    """

    @property
    def passed(self) -> bool: ...

    @property
    def body(self) -> dict[str, Any]: ...


def healthz(request: HttpRequest) -> HttpResponse:
    """Return 200 while the process responds, without calling any dependency."""
    return _json_response({"status": "ok"}, status=200)


def readyz(request: HttpRequest) -> HttpResponse:
    """Return 200 if database, cache and migrations are all "ok"; otherwise 503, with "failed" for each failed one.

    With a read replica its state is added: "ok", "lagging" or "failed"; null if the database failed.

    A parameter in READINESS_DETAILS adds its result under its name, and 503 if it fails; null if the database
    failed. An invalid value returns 400.
    """
    database, migrations = _check_database()
    checks = {"database": database, "cache": _check_cache(), "migrations": migrations}
    body: dict[str, Any] = {name: "ok" if passed else "failed" for name, passed in checks.items()}
    ready = all(checks.values())
    if has_replica():
        # Never a reason for 503: the primary serves the replica's reads.
        body["replica"] = _replica_status() if database else None
    for name, path in settings.READINESS_DETAILS.items():
        text = request.GET.get(name)
        if text is None:
            continue
        try:
            detail = _read_detail(path, text) if database and migrations else None
        except ValueError as error:
            return _json_response(error_body(ValidationError({name: [str(error)]})), status=400)
        body[name] = detail and detail.body
        ready = ready and detail is not None and detail.passed
    return _json_response({"status": "ok" if ready else "failed"} | body, status=200 if ready else 503)


def probe_middleware(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return a middleware that handles probes and scrapes before any other middleware."""
    probes = {"/healthz": healthz, "/readyz": readyz, "/metrics": metrics}

    def respond(request: HttpRequest) -> HttpResponseBase:
        probe = probes.get(request.path_info.removesuffix("/"))
        return get_response(request) if probe is None else probe(request)

    return respond


def _json_response(body: dict[str, Any], *, status: int) -> HttpResponse:
    return HttpResponse(
        render_json(body), status=status, content_type="application/json", headers={"Cache-Control": NO_STORE}
    )


def _read_detail(path: str, text: str) -> ReadinessDetail | None:
    """Return the result of a readiness function, or None if the database failed meanwhile. Raises ValidationError."""
    read_detail: Callable[[str, datetime], ReadinessDetail] = import_string(path)
    try:
        with statement_timeout(milliseconds=_DATABASE_STATEMENT_MS):
            return read_detail(text, timezone.now())
    except DatabaseError as error:
        logger.warning("Readiness: the database failed: %s", error)
        return None


def _replica_status() -> str | None:
    """Return the replica's state, or None if the database failed meanwhile."""
    try:
        with statement_timeout(milliseconds=_DATABASE_STATEMENT_MS):
            return measure_replica().status
    except DatabaseError as error:
        logger.warning("Readiness: the database failed: %s", error)
        return None


def _check_database() -> tuple[bool, bool]:
    """Return whether a new connection works, and whether every migration on disk is applied there."""
    fresh = _fresh_connection()
    try:
        with fresh.cursor() as cursor:
            limit_statements(cursor, milliseconds=_DATABASE_STATEMENT_MS, lock_milliseconds=_DATABASE_STATEMENT_MS)
            applied = applied_migrations(cursor)
    except ProgrammingError as error:
        logger.error("Readiness: the database has no migrations: %s", error)
        return True, False
    except DatabaseError as error:
        logger.warning("Readiness: the database failed: %s", error)
        return False, False
    finally:
        fresh.close()
    missing = sorted(known_migrations() - applied)
    if missing:
        logger.error("Readiness: migrations are not applied: %s", ", ".join(".".join(name) for name in missing))
    return True, not missing


def _fresh_connection() -> BaseDatabaseWrapper:
    """Return a new connection that begins a transaction; an open one could block on a hung server for ever.

    It has transaction timeouts, because a pooler accepts no session timeout.
    """
    fresh = connection.copy()
    options = {name: value for name, value in fresh.settings_dict["OPTIONS"].items() if name != "pool"}
    options["connect_timeout"] = _DATABASE_CONNECT_SECONDS
    fresh.settings_dict |= {"AUTOCOMMIT": False, "OPTIONS": options}
    return fresh


def _check_cache() -> bool:
    try:
        # Without the circuit breaker: a probe neither opens it nor waits until it closes.
        cache = Redis(connection_pool=redis_client().connection_pool)
        cache.set(_READINESS_KEY, "ok", ex=10)
        is_working = bool(cache.get(_READINESS_KEY) == b"ok")
    except RedisError as error:
        logger.warning("Readiness: the cache failed: %s", error)
        return False
    if not is_working:
        logger.error("Readiness: the cache lost a value that was just written")
    return is_working
