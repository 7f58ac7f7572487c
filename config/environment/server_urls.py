"""URLs of PostgreSQL and Redis: parsing of the settings, and connection checks at the start of the service.

Also a check of the web server. No error text contains the URL: it may hold a password.
"""

import http.client
import re
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
import psycopg
import redis
from django.core.exceptions import ImproperlyConfigured
from redis.backoff import NoBackoff
from redis.retry import Retry

from config.environment.variables import invalid_value

_DATABASE = "postgres://user:password@host:port/name"
_REDIS = "redis://host:port/number, rediss:// alike, or unix:///path"
_TIMEOUT_SECONDS = 2
# The service itself decides on prepared statements.
_OWN_OPTIONS = {"prepare_threshold", "server_side_binding"}
# A dead host sends no reset: with the system's defaults, a read blocks for two hours. Values are in seconds, the last
# in milliseconds; they have no effect on a unix socket.
_TCP_KEEPALIVE = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}


def parse_database_url(text: str) -> Any:
    """Return Django's settings of the database. Raises ImproperlyConfigured."""
    try:
        database = dj_database_url.parse(text, conn_max_age=None, conn_health_checks=True)
    except (dj_database_url.ParseError, dj_database_url.UnknownSchemeError, ValueError) as error:
        raise invalid_value("DATABASE_URL", _DATABASE) from error
    if database["ENGINE"] != "django.db.backends.postgresql" or not database["NAME"]:
        raise invalid_value("DATABASE_URL", _DATABASE)
    options = database.get("OPTIONS", {})
    if options.keys() & _OWN_OPTIONS:
        raise invalid_value("DATABASE_URL", f"{_DATABASE} without {' or '.join(sorted(_OWN_OPTIONS))}")
    # Threshold for statements with `prepare`; all others are sent as text.
    return database | {"ENGINE": "config.postgresql", "OPTIONS": _TCP_KEEPALIVE | options | {"prepare_threshold": 3}}


def parse_redis_url(text: str) -> str:
    """Validate the URL and return it. Raises ImproperlyConfigured if the client rejects or misreads it."""
    try:
        parts = urlsplit(text)
        if parts.scheme == "unix":
            usable = len(parts.path) > 1 and not parts.hostname
        else:
            # Accessing the port raises for one beyond 65535; the client reads any path that is not a number as 0.
            usable = bool(parts.hostname) and parts.port != 0 and bool(re.fullmatch(r"(/[0-9]*)?", parts.path))
        pool = redis.ConnectionPool.from_url(text)
        # Constructed, not opened: this raises for unknown options.
        pool.connection_class(**pool.connection_kwargs)
    except (ValueError, TypeError, redis.RedisError) as error:
        raise invalid_value("REDIS_URL", _REDIS) from error
    if not usable:
        raise invalid_value("REDIS_URL", _REDIS)
    return text


def check_database(parameters: dict[str, Any]) -> None:
    """Open a connection with Django's parameters. Raises ImproperlyConfigured with the cause if that fails."""
    try:
        psycopg.connect(**{"connect_timeout": _TIMEOUT_SECONDS} | parameters).close()
    except psycopg.Error as error:
        raise _unreachable("DATABASE_URL", error) from error


def check_redis(url: str) -> None:
    """Ping the server. Raises ImproperlyConfigured with the cause if that fails."""
    limits = {"socket_connect_timeout": _TIMEOUT_SECONDS, "socket_timeout": _TIMEOUT_SECONDS}
    try:
        with redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0), **limits) as client:
            client.ping()
    except (redis.RedisError, OSError) as error:
        raise _unreachable("REDIS_URL", error) from error


def is_web_server_up(host: str, port: int) -> bool:
    """Return whether the service's web server responds within two seconds."""
    connection = http.client.HTTPConnection(host, port, timeout=_TIMEOUT_SECONDS)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _unreachable(name: str, error: Exception) -> ImproperlyConfigured:
    # Errors of clients have several lines.
    return ImproperlyConfigured(f"{name}: no response from the server ({' '.join(str(error).split())})")
