"""Which IP addresses are of the public internet: what others name may be asked there, and nowhere else. Pure."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Network = IPv4Network | IPv6Network

# What Python's `is_global` takes for public, or took in some of its versions.
_REFUSED_V4 = tuple(
    map(
        IPv4Network,
        (
            # IETF's protocols; a cloud's metadata service is at 192.0.0.192.
            "192.0.0.0/24",
            # Relays of 6to4.
            "192.88.99.0/24",
            # Azure's services for its machines, on each of them.
            "168.63.129.16/32",
        ),
    )
)
# All that was ever given out for the public internet, which leaves out loopback, link-local, site-local and private
# addresses, and IPv4 addresses in disguise.
_UNICAST_V6 = IPv6Network("2000::/3")
_REFUSED_V6 = tuple(
    map(
        IPv6Network,
        (
            # IETF's protocols: Teredo, which holds an IPv4 address, benchmarks, ORCHID.
            "2001::/23",
            "2001:db8::/32",
            # 6to4: an IPv4 address stands in it.
            "2002::/16",
            "3fff::/20",
        ),
    )
)
# By these a machine without IPv4 reaches the IPv4 address that stands in the last four bytes.
_NAT64 = IPv6Network("64:ff9b::/96")


def is_public(text: str) -> bool:
    """Whether it is an address of the public internet; what is no address is not."""
    address = _read(text)
    return address is not None and _is_public(address)


def is_within(text: str, networks: Iterable[Network]) -> bool:
    """Whether it is an address of one of the networks."""
    address = _read(text)
    return address is not None and any(address in network for network in networks)


def _read(text: str) -> IPv4Address | IPv6Address | None:
    """The address, which is the IPv4 one where that is only written as IPv6."""
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
