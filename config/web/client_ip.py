"""A request's client address: the connection's address, or the one that trusted proxies forward.

`X_Forwarded_For` can't replace `X-Forwarded-For`: `config.edge.wsgi_environ` drops names with an underscore.
"""

import ipaddress
import re
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Warning
from django.http import HttpRequest

# Key for callers without an address: on a unix socket without a trusted proxy.
UNKNOWN_ADDRESS = "unknown"

# Some proxies append the client's port, and then put IPv6 addresses in brackets.
_WITH_PORT = re.compile(r"\[([^\]]*)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5}")

# Longer texts are no address: an IPv6 address has at most 45 characters, besides brackets, a zone and a port.
_MAX_ADDRESS = 100

# Proxies forward the client's address in these headers, besides the trusted one.
_FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP")

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


def client_address(request: HttpRequest) -> str:
    """Return the caller's rate limit key: an IPv4 address, or an IPv6 network such as `2001:db8::/64`.

    The owner of one IPv6 address commonly has all of its /64. An IPv4-mapped address is its IPv4 address.
    """
    return address_key(request.META)


def address_key(environ: Mapping[str, Any]) -> str:
    """Return the same for a WSGI request's environment."""
    address = _forwarded_address(environ) or _parse_address(environ.get("REMOTE_ADDR", ""))
    if address is None:
        return UNKNOWN_ADDRESS
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.IPv6Network((int(address) >> 64 << 64, 64)))
    return str(address)


def is_on_loopback(environ: Mapping[str, Any]) -> bool:
    """Return whether a WSGI request comes from a program on this machine.

    A local proxy forwards others' requests: then the forwarded address counts. A request that was forwarded without a
    trusted address counts as remote.
    """
    if any(header in environ for header in (_trusted_key(), *_FORWARDED)):
        address = _forwarded_address(environ)
    else:
        address = _parse_address(environ.get("REMOTE_ADDR", ""))
    return address is not None and address.is_loopback


def check_client_address(**_: Any) -> list[CheckMessage]:
    """Warn where all clients count as one; only with `check --deploy`."""
    if settings.TRUSTED_PROXIES or not settings.SITE_URL.startswith("https://"):
        return []
    return [
        Warning(
            "SITE_URL begins with https://, so that a proxy is in front, and TRUSTED_PROXIES is 0: all clients count"
            " as one address, with one rate limit.",
            hint="Set TRUSTED_PROXIES and CLIENT_ADDRESS_HEADER; see docs/running.md, Reverse proxies.",
            id="config.W001",
        )
    ]


def _trusted_key() -> str:
    """Return the WSGI key of the trusted header."""
    name: str = settings.CLIENT_ADDRESS_HEADER
    return f"HTTP_{name.upper().replace('-', '_')}"


def _forwarded_address(environ: Mapping[str, Any]) -> IPAddress | None:
    """Return the address that the outermost trusted proxy added; each proxy appends its client's address at the right.

    None without such an address: any client can forge the entries further left.
    """
    proxies: int = settings.TRUSTED_PROXIES
    header = environ.get(_trusted_key(), "")
    if not proxies or not header:
        return None
    entries = header.rsplit(",", proxies)[-proxies:]
    return _parse_address(entries[0]) if len(entries) == proxies else None


def _parse_address(text: str) -> IPAddress | None:
    text = text.strip()
    if len(text) > _MAX_ADDRESS:
        return None
    with_port = _WITH_PORT.fullmatch(text)
    if with_port:
        text = with_port[1] or with_port[2] or ""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
