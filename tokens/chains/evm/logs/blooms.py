"""The bloom filter of a block: 2048 bits, three of which each address and each topic of its logs sets. Pure.

Ethereum's yellow paper, section 4.3.1: the bits are the low 11 of the first three pairs of bytes of keccak-256.
"""

from collections.abc import Collection, Iterable
from functools import lru_cache

from eth_utils.crypto import keccak

from tokens.chains.abi.codec import Log

BITS = 2048
# From so many bits on, one address or topic in eight would seem to be there that is not, and of many looked for some.
_TOO_FULL = BITS // 2


@lru_cache(maxsize=65_536)
def mask(item: str) -> int:
    """The bits that an address or a topic, 0x-prefixed hex in lower case, sets."""
    digest = keccak(bytes.fromhex(item[2:]))
    found = 0
    for place in (0, 2, 4):
        found |= 1 << (int.from_bytes(digest[place : place + 2]) & (BITS - 1))
    return found


def bloom_of(logs: Iterable[Log]) -> int:
    """The filter of all these logs."""
    found = 0
    for log in logs:
        found |= mask(log["address"].lower())
        for topic in log["topics"]:
            found |= mask(topic)
    return found


def is_too_full(bloom: int) -> bool:
    """Whether the filter has so many bits that it tells nothing."""
    return bloom.bit_count() > _TOO_FULL


def may_hold_any(bloom: int, masks: Collection[int]) -> bool:
    """Whether one of the items behind these masks may be in the filter."""
    return any(bloom & bits == bits for bits in masks)
