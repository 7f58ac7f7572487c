"""URLs of Redis and its sentinels, and the broker's settings. No error text contains a URL: it may hold a password."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from config.environment.variables import invalid_value

REDIS_FORM = "redis://host:port/number, rediss:// alike, or unix:///path"
# Each is a text to redis-py, and not to be converted.
_SENTINEL_OPTIONS = {"ssl_ca_certs", "ssl_certfile", "ssl_keyfile"}
_SENTINEL_FORM = (
    "redis://:password@host:port or rediss:// alike, several between commas with the same password and options"
    f" ({', '.join(sorted(_SENTINEL_OPTIONS))}), and the master's name as the host of REDIS_URL"
)
_SENTINEL_PORT = 26379
# Of the sentinels' clients, in seconds and without the client's own retries, which take 14 s: a host that is gone must
# not block a call or a failover for longer. The next sentinel is called instead.
SENTINEL_LIMITS: dict[str, Any] = {"socket_connect_timeout": 1, "socket_timeout": 1, "retry": None}


@dataclass(frozen=True, kw_only=True)
class Sentinels:
    """Sentinels of a Redis master; `options` are arguments of their clients."""

    master: str
    addresses: tuple[tuple[str, int], ...]
    options: tuple[tuple[str, Any], ...]


def parse_redis_url(text: str) -> str:
    """Validate the URL and return it. Raises ImproperlyConfigured if the client would reject or misread it.

    `redis_client` rejects unknown options: commands without Redis do not load the client, which takes 0.06 s.
    """
    try:
        parts = urlsplit(text)
        if parts.scheme == "unix":
            usable = len(parts.path) > 1 and not parts.hostname
        else:
            # Accessing the port raises for one beyond 65535; the client reads any path that is not a number as 0.
            usable = bool(parts.hostname) and parts.port != 0 and bool(re.fullmatch(r"(/[0-9]*)?", parts.path))
            usable &= parts.scheme in ("redis", "rediss")
    except ValueError as error:
        raise invalid_value("REDIS_URL", REDIS_FORM) from error
    if not usable:
        raise invalid_value("REDIS_URL", REDIS_FORM)
    return text


def parse_sentinels(urls: Sequence[str], redis_url: str) -> Sentinels | None:
    """Return the sentinels of the master that REDIS_URL names, or None without any. Raises ImproperlyConfigured."""
    if not urls:
        return None
    try:
        parts = [urlsplit(url) for url in urls]
        addresses = tuple((part.hostname or "", part.port or _SENTINEL_PORT) for part in parts)
    except ValueError as error:
        raise invalid_value("REDIS_SENTINELS", _SENTINEL_FORM) from error
    one = parts[0]
    options: dict[str, Any] = dict(parse_qsl(one.query))
    is_usable = (
        one.scheme in ("redis", "rediss")
        and all(host for host, _ in addresses)
        and len({(part.scheme, part.username, part.password, part.path, part.query) for part in parts}) == 1
        and one.path in ("", "/")
        and options.keys() <= _SENTINEL_OPTIONS
        and not redis_url.startswith("unix:")
    )
    if not is_usable:
        raise invalid_value("REDIS_SENTINELS", _SENTINEL_FORM)
    given = {"username": one.username, "password": one.password}
    options |= {name: unquote(value) for name, value in given.items() if value}
    options |= {"ssl": True} if one.scheme == "rediss" else {}
    # Not `hostname`, which is in lower case.
    master = urlsplit(redis_url).netloc.rpartition("@")[2].partition(":")[0]
    return Sentinels(master=master, addresses=addresses, options=tuple(options.items()))


def broker_url(redis_url: str, sentinels: Sentinels | None) -> str:
    """Return the URL of Celery's broker."""
    parts = urlsplit(redis_url)
    if parts.scheme == "unix":
        # Kombu has its own scheme for a Redis server on a unix socket.
        return redis_url.replace("unix://", "redis+socket://", 1).replace("?db=", "?virtual_host=", 1)
    if parts.scheme == "rediss":
        # Without an option of TLS, kombu verifies no certificate.
        parts = parts._replace(query=urlencode({"ssl_cert_reqs": "required"} | dict(parse_qsl(parts.query))))
    if sentinels is None:
        return parts.geturl()
    user = parts.netloc.rpartition("@")[0]
    return ";".join(
        parts._replace(scheme="sentinel", netloc=f"{user}@{host}:{port}" if user else f"{host}:{port}").geturl()
        for host, port in sentinels.addresses
    )


def broker_options(sentinels: Sentinels | None) -> dict[str, Any]:
    """Return kombu's options for the master behind sentinels."""
    if sentinels is None:
        return {}
    return {"master_name": sentinels.master, "sentinel_kwargs": dict(sentinels.options) | SENTINEL_LIMITS}
