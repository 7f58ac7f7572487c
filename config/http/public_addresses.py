"""Classification of IP addresses: public internet or not. Pure."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Network = IPv4Network | IPv6Network

# Networks that `is_global` accepts, or did in some Python versions.
_REFUSED_V4 = tuple(
    map(
        IPv4Network,
        (
            # IETF protocols; a cloud's metadata service is at 192.0.0.192.
            "192.0.0.0/24",
            # 6to4 relays.
            "192.88.99.0/24",
            # Azure's platform services, on each virtual machine.
            "168.63.129.16/32",
        ),
    )
)
# Global unicast space. It excludes loopback, link-local, site-local and private addresses, and embedded IPv4 addresses.
_UNICAST_V6 = IPv6Network("2000::/3")
_REFUSED_V6 = tuple(
    map(
        IPv6Network,
        (
            # IETF protocols: Teredo, which embeds an IPv4 address, benchmarks, ORCHID.
            "2001::/23",
            "2001:db8::/32",
            # 6to4: embeds an IPv4 address.
            "2002::/16",
            "3fff::/20",
        ),
    )
)
# NAT64: a host without IPv4 reaches the IPv4 address in the last four bytes.
_NAT64 = IPv6Network("64:ff9b::/96")


def is_address(text: str) -> bool:
    """Return whether the text is an IP address."""
    return _parse(text) is not None


def is_public_address(text: str) -> bool:
    """Return whether the text is an address on the public internet; False for any other text."""
    address = _parse(text)
    return address is not None and _is_public(address)


def is_in_networks(text: str, networks: Iterable[Network]) -> bool:
    """Return whether the text is an address in one of the networks."""
    address = _parse(text)
    return address is not None and any(address in network for network in networks)


def _parse(text: str) -> IPv4Address | IPv6Address | None:
    """Parse an address; an IPv4-mapped IPv6 address becomes IPv4. None if it is not an address."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if address.is_multicast or not address.is_global and address not in _NAT64:
        return False
    if isinstance(address, IPv4Address):
        return not address.is_reserved and not any(address in network for network in _REFUSED_V4)
    if address in _NAT64:
        return _is_public(IPv4Address(int(address) & 0xFFFFFFFF))
    return address in _UNICAST_V6 and not any(address in network for network in _REFUSED_V6)
