"""PostgreSQL URLs: parsing, and connection checks when the service starts.

Also a web server check. No error text contains the URL: it may hold a password.
"""

import http.client
from ipaddress import ip_address
from typing import Any

import dj_database_url
import psycopg
from django.core.exceptions import ImproperlyConfigured

from config.environment.variables import invalid_value

_DATABASE = "postgres://user:password@host:port/name, its parts percent-encoded"
_TIMEOUT_SECONDS = 2
# The service itself decides on prepared statements.
_OWN_OPTIONS = {"prepare_threshold", "server_side_binding"}
# A dead host sends no reset: with the system's defaults, a read blocks for two hours. Values are in seconds, the last
# in milliseconds; they have no effect on a unix socket.
_TCP_KEEPALIVE = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}
# A dead replica is given up sooner: the primary serves its reads.
_REPLICA_TIMEOUTS = {"connect_timeout": _TIMEOUT_SECONDS, "tcp_user_timeout": 5_000}


def parse_database_url(text: str, *, name: str = "DATABASE_URL") -> Any:
    """Return Django's settings for the database in the variable `name`. Raises ImproperlyConfigured."""
    try:
        database = dj_database_url.parse(text, conn_max_age=None, conn_health_checks=True)
    except (dj_database_url.ParseError, dj_database_url.UnknownSchemeError, ValueError) as error:
        raise invalid_value(name, _DATABASE) from error
    # A slash in a password that is not encoded ends the host, and the rest of the URL becomes the name.
    if database["ENGINE"] != "django.db.backends.postgresql" or not database["NAME"] or "@" in database["NAME"]:
        raise invalid_value(name, _DATABASE)
    options = database.get("OPTIONS", {})
    if options.keys() & _OWN_OPTIONS:
        raise invalid_value(name, f"{_DATABASE} without {' or '.join(sorted(_OWN_OPTIONS))}")
    # Threshold for statements with `prepare`; all others are sent as text.
    return database | {"ENGINE": "config.postgresql", "OPTIONS": _TCP_KEEPALIVE | options | {"prepare_threshold": 3}}


def without_sessions(database: dict[str, Any]) -> dict[str, Any]:
    """Return Django's settings for a pooler in transaction mode: without prepared statements and cursors."""
    options = database["OPTIONS"] | {"prepare_threshold": None}
    return database | {"DISABLE_SERVER_SIDE_CURSORS": True, "OPTIONS": options}


def parse_replica_url(text: str) -> Any:
    """Return Django's settings for the read replica, with short timeouts. Raises ImproperlyConfigured."""
    database = parse_database_url(text, name="READ_REPLICA_URL")
    own_options = dj_database_url.parse(text).get("OPTIONS", {})
    return database | {"OPTIONS": database["OPTIONS"] | _REPLICA_TIMEOUTS | own_options}


def check_database(parameters: dict[str, Any]) -> None:
    """Open a connection with Django's parameters. Raises ImproperlyConfigured with the cause if that fails."""
    try:
        psycopg.connect(**{"connect_timeout": _TIMEOUT_SECONDS} | parameters).close()
    except psycopg.Error as error:
        raise unreachable_server("DATABASE_URL", error) from error


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


def reachable_url(host: str, port: int) -> str:
    """Return the URL at which a local program reaches a server that listens on this IP address."""
    address = ip_address(host)
    if address.is_unspecified:
        host = "127.0.0.1" if address.version == 4 else "::1"
    return f"http://{host if address.version == 4 else f'[{host}]'}:{port}"


def unreachable_server(name: str, error: Exception | str) -> ImproperlyConfigured:
    """Return the error for a setting with an unresponsive server."""
    # Client errors have several lines.
    return ImproperlyConfigured(f"{name}: no response from the server ({' '.join(str(error).split())})")
