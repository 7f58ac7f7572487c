"""Ethereum's bloom filter over the addresses and topics of a block's logs (yellow paper, section 4.3.1)."""

from collections.abc import Iterable
from functools import lru_cache

from eth_utils.crypto import keccak

from tests.nodes.log_encoding import LogEntry


def bloom(logs: Iterable[LogEntry]) -> int:
    """Return the 2048 bits as a number."""
    found = 0
    for log in logs:
        found |= _bits(log.address)
        for topic in log.topics:
            found |= _bits(topic)
    return found


@lru_cache(maxsize=200_000)
def _bits(value: str) -> int:
    digest = keccak(hexstr=value)
    return sum({1 << (int.from_bytes(digest[place : place + 2], "big") & 2047) for place in (0, 2, 4)})
