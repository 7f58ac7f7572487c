"""Who is calling, by address: the connection's own, or what the configured number of trusted proxies say of it."""

import ipaddress
import re

from django.conf import settings
from django.http import HttpRequest

# What stands for callers whose address nobody tells: those who come by a unix socket, without a trusted proxy.
UNKNOWN = "unknown"

# Some proxies write the client's port behind its address, and then IPv6 addresses in brackets.
_WITH_PORT = re.compile(r"\[([^\]]*)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5}")

# In what proxies tell whom they were called by.
_FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def client_address(request: HttpRequest) -> str:
    """What this caller's requests are counted by: an IPv4 address, or the network of an IPv6 one, as `2001:db8::/64`.

    Whoever has one IPv6 address commonly has all of its /64. An IPv4-mapped address is its IPv4.
    """
    forwarded = _forwarded(request.META.get("HTTP_X_FORWARDED_FOR", ""))
    address = forwarded or _read(request.META.get("REMOTE_ADDR", ""))
    if address is None:
        return UNKNOWN
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.IPv6Network((int(address) >> 64 << 64, 64)))
    return str(address)


def is_on_loopback(request: HttpRequest) -> bool:
    """Whether the caller is a program of this machine that speaks for itself.

    A proxy here speaks for others: whom it was called by counts, and where no trusted one says it, it was a stranger.
    """
    if any(header in request.META for header in _FORWARDED):
        address = _forwarded(request.META.get("HTTP_X_FORWARDED_FOR", ""))
    else:
        address = _read(request.META.get("REMOTE_ADDR", ""))
    return address is not None and address.is_loopback


def _forwarded(header: str) -> Address | None:
    """What the outermost trusted proxy wrote; each of them adds, at the right, whom it was called by.

    None without such an address: what is further left, anybody can write.
    """
    proxies: int = settings.TRUSTED_PROXIES
    if not proxies or not header:
        return None
    entries = header.rsplit(",", proxies)[-proxies:]
    return _read(entries[0]) if len(entries) == proxies else None


def _read(text: str) -> Address | None:
    text = text.strip()
    with_port = _WITH_PORT.fullmatch(text)
    if with_port:
        text = with_port[1] or with_port[2] or ""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
