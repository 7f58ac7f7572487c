"""Bloom filter of a block: 2048 bits; each log address and each log topic sets three. Pure.

Ethereum's yellow paper, section 4.3.1: the low 11 bits in each of keccak-256's first three byte pairs number a bit.
"""

from collections.abc import Collection
from functools import lru_cache

from sha3 import keccak_256

BITS = 2048
# From this many bits on, one address or topic in eight would match by accident: with many items, some do.
_TOO_FULL = BITS // 2


@lru_cache(maxsize=16_384)
def bloom_mask(item: str) -> int:
    """Return the bits that an address or topic, 0x-prefixed lower-case hex, sets."""
    digest = keccak_256(bytes.fromhex(item[2:])).digest()
    mask = 0
    for start in (0, 2, 4):
        mask |= 1 << (int.from_bytes(digest[start : start + 2]) & (BITS - 1))
    return mask


def is_too_full(bloom: int) -> bool:
    """Return whether so many bits are set that the filter decides nothing."""
    return bloom.bit_count() > _TOO_FULL


def may_contain_any(bloom: int, masks: Collection[int]) -> bool:
    """Return whether the filter matches any of these masks."""
    return any(bloom & bits == bits for bits in masks)
