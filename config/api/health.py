"""Probes for load balancers and orchestrators: is the process up, and can it do its work?

Both answer before the host is checked and before any redirect to https (`answer_probes`, first in MIDDLEWARE), because
probes come by address and in plain HTTP; so do scrapes of the metrics. Neither says why something failed: that is in
the log.
"""

import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import redis
from django.conf import settings
from django.core.cache import InvalidCacheBackendError, caches
from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.redis import RedisCache
from django.db import DatabaseError, ProgrammingError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone
from django.utils.module_loading import import_string
from rest_framework.exceptions import ValidationError

from config.api.error_handling import error_body
from config.api.metrics import metrics
from config.api.rendering import render_json
from config.api.response_headers import NEVER_STORED
from config.postgresql.timeouts import limited

logger = logging.getLogger(__name__)

# libpq counts whole seconds and takes 1 for 2.
_DATABASE_CONNECT_SECONDS = 2
_DATABASE_STATEMENT_MS = 1000
_CACHE_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class Detail:
    """What readiness has to do with one thing, whether that is well, and what is known of it.

    READINESS_DETAILS lists, by parameter, the functions that make them: of the parameter's text and the time, or
    ValidationError.
    """

    passed: bool
    body: dict[str, Any]


def healthz(request: HttpRequest) -> HttpResponse:
    """200 while the process answers; asks nobody else."""
    return _answer({"status": "ok"}, status=200)


def readyz(request: HttpRequest) -> HttpResponse:
    """200 when database, cache and migrations are all "ok"; else 503, with "failed" where it is so.

    With a parameter of READINESS_DETAILS also what that tells under the parameter's name, and 503 where it fails; null
    where the database can't tell. A value that means nothing is 400.
    """
    database, migrations = _check_database()
    checks = {"database": database, "cache": _check_cache(), "migrations": migrations}
    body: dict[str, Any] = {name: "ok" if passed else "failed" for name, passed in checks.items()}
    ready = all(checks.values())
    for name, path in settings.READINESS_DETAILS.items():
        text = request.GET.get(name)
        if text is None:
            continue
        try:
            detail = _read_detail(path, text) if database and migrations else None
        except ValidationError as error:
            return _answer(error_body(error), status=400)
        body[name] = detail and detail.body
        ready = ready and detail is not None and detail.passed
    return _answer({"status": "ok" if ready else "failed"} | body, status=200 if ready else 503)


def answer_probes(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware that answers probes and scrapes before any other middleware sees them."""
    probes = {"/healthz": healthz, "/readyz": readyz, "/metrics": metrics}

    def answer(request: HttpRequest) -> HttpResponseBase:
        probe = probes.get(request.path_info.removesuffix("/"))
        return get_response(request) if probe is None else probe(request)

    return answer


def _answer(body: dict[str, Any], *, status: int) -> HttpResponse:
    return HttpResponse(
        render_json(body), status=status, content_type="application/json", headers={"Cache-Control": NEVER_STORED}
    )


def _read_detail(path: str, text: str) -> Detail | None:
    """None where the database failed meanwhile. Raises ValidationError."""
    read: Callable[[str, datetime], Detail] = import_string(path)
    try:
        with limited(milliseconds=_DATABASE_STATEMENT_MS):
            return read(text, timezone.now())
    except DatabaseError as error:
        logger.error("Readiness: the database failed: %s", error)
        return None


def _check_database() -> tuple[bool, bool]:
    """Whether a new connection answers, and whether every migration on disk is applied there."""
    fresh = _fresh_connection()
    try:
        # Plain SQL, because the migration recorder's queries go to the connection that is already open.
        with fresh.cursor() as cursor:
            cursor.execute("SELECT app, name FROM django_migrations")
            applied = set(cursor.fetchall())
    except ProgrammingError as error:
        logger.error("Readiness: the database has no migrations: %s", error)
        return True, False
    except DatabaseError as error:
        logger.error("Readiness: the database failed: %s", error)
        return False, False
    finally:
        fresh.close()
    missing = sorted(_known_migrations() - applied)
    if missing:
        logger.error("Readiness: migrations are not applied: %s", ", ".join(".".join(name) for name in missing))
    return True, not missing


def _fresh_connection() -> BaseDatabaseWrapper:
    """A connection with time limits of its own; one that is already open could wait for a hung server for ever."""
    fresh = connection.copy()
    options = {name: value for name, value in fresh.settings_dict["OPTIONS"].items() if name != "pool"}
    limits = f"-c statement_timeout={_DATABASE_STATEMENT_MS} -c lock_timeout={_DATABASE_STATEMENT_MS}"
    options["connect_timeout"] = _DATABASE_CONNECT_SECONDS
    options["options"] = f"{options.get('options', '')} {limits}".strip()
    fresh.settings_dict["OPTIONS"] = options
    return fresh


@functools.cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    return frozenset(MigrationLoader(None).graph.nodes)


def _check_cache() -> bool:
    try:
        cache = _impatient_cache()
        cache.set("readiness", "ok", timeout=10)
        answered = bool(cache.get("readiness") == "ok")
    except (redis.RedisError, OSError, InvalidCacheBackendError) as error:
        logger.error("Readiness: the cache failed: %s", error)
        return False
    if not answered:
        logger.error("Readiness: the cache lost what was just written")
    return answered


def _impatient_cache() -> BaseCache:
    """The default cache; a Redis server gets one short try."""
    cache = caches["default"]
    if not isinstance(cache, RedisCache):
        return cache
    parameters: dict[str, Any] = dict(settings.CACHES["default"])
    parameters["OPTIONS"] = {
        **parameters.get("OPTIONS", {}),
        "socket_connect_timeout": _CACHE_SECONDS,
        "socket_timeout": _CACHE_SECONDS,
    }
    return RedisCache(parameters.pop("LOCATION"), parameters)
