"""Single ABI values as plain Python: addresses in their EIP-55 form, and text that PostgreSQL takes."""

import re
from functools import lru_cache

from Crypto.Hash import keccak

# Which letters of an address are capitals, the hash of its lower-case digits says: those at whose place it has 8 or
# more. In ASCII one bit, 0x20, tells a capital from a small letter, so that all 40 digits are changed at once.
_CASE_BIT = 0x20
_CAPITAL = bytes(_CASE_BIT if chr(byte) in "89abcdef" else 0 for byte in range(256))
_LETTER = bytes(_CASE_BIT if chr(byte) in "abcdef" else 0 for byte in range(256))

_ADDRESS = re.compile("(?:0[xX])?([0-9a-fA-F]{40})")


def checksum(address: str) -> str:
    """The EIP-55 form of a 20-byte hex address. Raises ValueError where it is none, TypeError where it is no text."""
    digits = _ADDRESS.fullmatch(address)
    if digits is None:
        raise ValueError("an address that is not of 20 bytes in hex")
    return address_text(bytes.fromhex(digits[1]))


@lru_cache(maxsize=65_536)
def address_text(raw: bytes) -> str:
    """The EIP-55 form of an address in bytes. Factories, hooks, lockers and pairs recur, and a hash costs some us."""
    digits = raw.hex().encode()
    hashed = keccak.new(data=digits, digest_bits=256).digest()[: len(raw)].hex().encode()
    capitals = int.from_bytes(hashed.translate(_CAPITAL), "big") & int.from_bytes(digits.translate(_LETTER), "big")
    return "0x" + (int.from_bytes(digits, "big") ^ capitals).to_bytes(len(digits), "big").decode()


def clean_text(raw: bytes) -> str:
    """Text that PostgreSQL takes, whatever the bytes are: U+FFFD for what is no UTF-8, and no NUL."""
    return raw.decode("utf-8", errors="replace").replace("\0", "")
