"""The addresses of PostgreSQL and Redis: refused where they can't be used, and asked for an answer before a start.

After it the web server is asked, too.

No refusal shows the address: it may hold a password.
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

from config.environment.variables import refused

_DATABASE = "postgres://user:password@host:port/name"
_REDIS = "redis://host:port/number, rediss:// alike, or unix:///path"
_PATIENCE_SECONDS = 2
# How statements go to the server is decided here, for each kind of them.
_OWN_OPTIONS = {"prepare_threshold", "server_side_binding"}
# A server whose host is gone says nothing: by the system's own times, who waits for its answer does so for two hours.
# In seconds, the last in milliseconds; they mean nothing on a local socket.
_NOTICE = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}


def read_database_url(text: str) -> Any:
    """Django's settings of the database. Raises ImproperlyConfigured."""
    try:
        database = dj_database_url.parse(text, conn_max_age=None, conn_health_checks=True)
    except (dj_database_url.ParseError, dj_database_url.UnknownSchemeError, ValueError) as error:
        raise refused("DATABASE_URL", _DATABASE) from error
    if database["ENGINE"] != "django.db.backends.postgresql" or not database["NAME"]:
        raise refused("DATABASE_URL", _DATABASE)
    options = database.get("OPTIONS", {})
    if options.keys() & _OWN_OPTIONS:
        raise refused("DATABASE_URL", f"{_DATABASE} without {' or '.join(sorted(_OWN_OPTIONS))}")
    # Of statements that are meant to be prepared: every other one goes as text.
    return database | {"ENGINE": "config.postgresql", "OPTIONS": _NOTICE | options | {"prepare_threshold": 3}}


def read_redis_url(text: str) -> str:
    """The address itself. Raises ImproperlyConfigured for one that the client refuses, or would read otherwise."""
    try:
        parts = urlsplit(text)
        if parts.scheme == "unix":
            usable = len(parts.path) > 1 and not parts.hostname
        else:
            # Reading the port is what refuses one beyond 65535; the client takes any path that is no number for 0.
            usable = bool(parts.hostname) and parts.port != 0 and bool(re.fullmatch(r"(/[0-9]*)?", parts.path))
        pool = redis.ConnectionPool.from_url(text)
        # Made, not opened: this refuses options that no connection has.
        pool.connection_class(**pool.connection_kwargs)
    except (ValueError, TypeError, redis.RedisError) as error:
        raise refused("REDIS_URL", _REDIS) from error
    if not usable:
        raise refused("REDIS_URL", _REDIS)
    return text


def ask_database(parameters: dict[str, Any]) -> None:
    """Open a connection with Django's parameters. Raises ImproperlyConfigured with the reason where that fails."""
    try:
        psycopg.connect(**{"connect_timeout": _PATIENCE_SECONDS} | parameters).close()
    except psycopg.Error as error:
        raise _no_answer("DATABASE_URL", error) from error


def ask_redis(url: str) -> None:
    """Have the server answer a ping. Raises ImproperlyConfigured with the reason where it doesn't."""
    limits = {"socket_connect_timeout": _PATIENCE_SECONDS, "socket_timeout": _PATIENCE_SECONDS}
    try:
        with redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0), **limits) as client:
            client.ping()
    except (redis.RedisError, OSError) as error:
        raise _no_answer("REDIS_URL", error) from error


def web_server_answers(host: str, port: int) -> bool:
    """Whether the service's web server is up; it is waited for two seconds."""
    connection = http.client.HTTPConnection(host, port, timeout=_PATIENCE_SECONDS)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _no_answer(name: str, error: Exception) -> ImproperlyConfigured:
    # Clients explain themselves in several lines.
    return ImproperlyConfigured(f"{name}: no answer from the server ({' '.join(str(error).split())})")
