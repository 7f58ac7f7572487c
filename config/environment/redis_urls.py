"""URLs of Redis and its sentinels, and the broker's settings. No error text contains a URL: it may hold a password."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from config.environment.variables import invalid_value

REDIS_FORM = "redis://host:port/number, rediss:// alike, or unix:///path"
# redis-py takes each as text, without conversion.
_SENTINEL_OPTIONS = {"ssl_ca_certs", "ssl_certfile", "ssl_keyfile"}
_SENTINEL_FORM = (
    "redis://:password@host:port or rediss:// alike, several between commas with the same password and options"
    f" ({', '.join(sorted(_SENTINEL_OPTIONS))}), and the master's name as the host of REDIS_URL"
)
_SENTINEL_PORT = 26379
# Timeouts in seconds for sentinel clients, without the client's own retries, which take 14 s: a dead host must not
# block a call or a failover for longer. The next sentinel is called instead.
SENTINEL_LIMITS: dict[str, Any] = {"socket_connect_timeout": 1, "socket_timeout": 1, "retry": None}


@dataclass(frozen=True, kw_only=True)
class Sentinels:
    """Sentinels for a Redis master; `options` are their clients' arguments."""

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
        split_urls = [urlsplit(url) for url in urls]
        addresses = tuple((url.hostname or "", url.port or _SENTINEL_PORT) for url in split_urls)
    except ValueError as error:
        raise invalid_value("REDIS_SENTINELS", _SENTINEL_FORM) from error
    first = split_urls[0]
    options: dict[str, Any] = dict(parse_qsl(first.query))
    is_usable = (
        first.scheme in ("redis", "rediss")
        and all(host for host, _ in addresses)
        and len({(url.scheme, url.username, url.password, url.path, url.query) for url in split_urls}) == 1
        and first.path in ("", "/")
        and options.keys() <= _SENTINEL_OPTIONS
        and not redis_url.startswith("unix:")
    )
    if not is_usable:
        raise invalid_value("REDIS_SENTINELS", _SENTINEL_FORM)
    credentials = {"username": first.username, "password": first.password}
    options |= {name: unquote(value) for name, value in credentials.items() if value}
    options |= {"ssl": True} if first.scheme == "rediss" else {}
    # Not `hostname`, which is in lower case.
    master = urlsplit(redis_url).netloc.rpartition("@")[2].partition(":")[0]
    return Sentinels(master=master, addresses=addresses, options=tuple(options.items()))


def broker_url(redis_url: str, sentinels: Sentinels | None) -> str:
    """Return Celery's broker URL."""
    parts = urlsplit(redis_url)
    if parts.scheme == "unix":
        # Kombu has its own scheme for a Redis server on a unix socket.
        return redis_url.replace("unix://", "redis+socket://", 1).replace("?db=", "?virtual_host=", 1)
    if parts.scheme == "rediss":
        # Without a TLS option, kombu verifies no certificate.
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
