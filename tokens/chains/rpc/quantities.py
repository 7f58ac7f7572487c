"""Numbers and bytes as JSON-RPC writes them, read strictly: what is not well formed is no answer. Pure."""

import re
from functools import lru_cache

from config.http.json_client import Retryable

# The calendar's end, in Unix seconds.
YEAR_10000 = 253_402_300_800

_NUMBER = re.compile(r"0x(?:0|[1-9a-f][0-9a-f]{0,15})")
_AMOUNT = re.compile(r"0x(?:0|[1-9a-f][0-9a-f]{0,63})")
_HASH = re.compile(r"0x[0-9a-f]{64}")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_BLOOM = re.compile(r"0x[0-9a-fA-F]{512}")


class Malformed(Retryable):
    """An answer has something else in the place of what belongs there; another node's may be whole."""


def read_number(text: object, *, below: int = 2**63) -> int:
    """A quantity: hex without leading zeros. Raises Malformed."""
    number = _number_of(text) if isinstance(text, str) else None
    if number is None:
        raise Malformed("something else in the place of a number")
    if number >= below:
        raise Malformed("a number out of range")
    return number


@lru_cache(maxsize=16_384)
def _number_of(text: str) -> int | None:
    """None of what is no quantity. The logs of a block repeat the same few numbers."""
    return int(text, 16) if _NUMBER.fullmatch(text) else None


def read_amount(text: object) -> int:
    """A quantity of up to 256 bits, such as a balance in wei. Raises Malformed."""
    if not isinstance(text, str) or not _AMOUNT.fullmatch(text):
        raise Malformed("something else in the place of an amount")
    return int(text, 16)


def read_whole(value: object, *, below: int = 2**63) -> int:
    """A number from 0 that counts something, as Solana's nodes write it. Raises Malformed."""
    # Python takes a bool for 0 or 1.
    if type(value) is not int or not 0 <= value < below:
        raise Malformed("something else in the place of a number")
    return value


def read_hash(text: object) -> str:
    """32 bytes in lower case. Raises Malformed."""
    if not isinstance(text, str) or not _HASH.fullmatch(text):
        raise Malformed("something else in the place of a hash")
    return text


def read_address(text: object) -> str:
    """20 bytes, as they are written. Raises Malformed."""
    if not isinstance(text, str) or not _is_address(text):
        raise Malformed("something else in the place of an address")
    return text


@lru_cache(maxsize=16_384)
def _is_address(text: str) -> bool:
    """Most logs are of the same few contracts."""
    return bool(_ADDRESS.fullmatch(text))


def read_bloom(text: object) -> int:
    """The 2048 bits of a bloom filter. Raises Malformed."""
    if not isinstance(text, str) or not _BLOOM.fullmatch(text):
        raise Malformed("something else in the place of a bloom filter")
    return int(text, 16)


def read_data(text: object) -> str:
    """Bytes of any number, as they are written. Raises Malformed."""
    try:
        # Lengths are compared because `fromhex` skips spaces; a regular expression is ten times slower on long texts.
        if isinstance(text, str) and text[:2] == "0x" and 2 * len(bytes.fromhex(text[2:])) + 2 == len(text):
            return text
    except ValueError:
        pass
    raise Malformed("something else in the place of bytes")


def read_list(value: object, *, of: str) -> list[object]:
    """A list; `of` names what it should hold. Raises Malformed."""
    if not isinstance(value, list):
        raise Malformed(f"something else in the place of {of}")
    return value


def read_object(value: object, *, of: str) -> dict[str, object]:
    """An object; `of` names what it should be. Raises Malformed."""
    if not isinstance(value, dict):
        raise Malformed(f"something else in the place of {of}")
    return value
