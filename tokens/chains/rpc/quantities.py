"""Strict parsers for JSON-RPC values: quantities, times, hashes, bytes, lists and objects. Pure but for the clock."""

import re
import time
from functools import lru_cache

from config.http.errors import RetryableError

# The calendar's end, in Unix seconds.
YEAR_10000 = 253_402_300_800

# Exclusive limit for block numbers and slots: with 20 bits for a log's index, a position is a 64-bit integer.
BLOCK_LIMIT = 2**43
# Exclusive limit for indexes in a block; PostgreSQL's integers end here, and no block has so many logs.
INDEX_LIMIT = 2**31
# Exclusive limits on every chain: gas units in a transaction, wei per gas, and transactions by an account.
GAS_LIMIT = 2**40
GAS_PRICE_LIMIT = 2**63
NONCE_LIMIT = 2**53
# 2015-07-30 in Unix seconds, when Ethereum's first block was produced: no followed chain is older.
FIRST_TIME = 1_438_214_400
# Most seconds that a block may be ahead of the local clock. Development chains' clocks are set forward by years.
_MOST_AHEAD = 10 * 366 * 86_400

_NUMBER = re.compile(r"0x(?:0|[1-9a-f][0-9a-f]{0,15})")
_AMOUNT = re.compile(r"0x(?:0|[1-9a-f][0-9a-f]{0,63})")
_HASH = re.compile(r"0x[0-9a-f]{64}")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
# Characters for a block's 2048 bits in hex, with 0x.
_BLOOM_DIGITS = 514


class MalformedResponseError(RetryableError):
    """A response with a malformed value; another node's response may be well-formed."""


def parse_quantity(text: object, *, below: int = 2**63) -> int:
    """Parse a quantity: hex without leading zeros. Raises MalformedResponseError."""
    number = _number_of(text) if isinstance(text, str) else None
    if number is None:
        raise MalformedResponseError("something else in the place of a number")
    if number >= below:
        raise MalformedResponseError("a number out of range")
    return number


def parse_block_number(text: object) -> int:
    """Parse a block number, which positions contain. Raises MalformedResponseError."""
    return parse_quantity(text, below=BLOCK_LIMIT)


def validate_block_time(seconds: int, *, block: int) -> int:
    """Return a block's Unix seconds. Raises MalformedResponseError for a time that no followed block can have.

    Only some chains' first block has the time 0.
    """
    first = 0 if block == 0 else FIRST_TIME
    if not first <= seconds <= time.time() + _MOST_AHEAD:
        raise MalformedResponseError("a time that no block has")
    return seconds


@lru_cache(maxsize=16_384)
def _number_of(text: str) -> int | None:
    """Parse hex; None for a malformed quantity. Cached, because a block's logs repeat the same few numbers."""
    return int(text, 16) if _NUMBER.fullmatch(text) else None


def parse_amount(text: object) -> int:
    """Parse a quantity of up to 256 bits, such as a balance in wei. Raises MalformedResponseError."""
    if not isinstance(text, str) or not _AMOUNT.fullmatch(text):
        raise MalformedResponseError("something else in the place of an amount")
    return int(text, 16)


def parse_integer(value: object, *, below: int = 2**63) -> int:
    """Validate a non-negative integer, as Solana's nodes return it. Raises MalformedResponseError."""
    # In Python a bool is an int.
    if type(value) is not int or not 0 <= value < below:
        raise MalformedResponseError("something else in the place of a number")
    return value


def parse_hash(text: object) -> str:
    """Validate 32 bytes of lower-case hex. Raises MalformedResponseError."""
    if not isinstance(text, str) or not _HASH.fullmatch(text):
        raise MalformedResponseError("something else in the place of a hash")
    return text


def parse_log_address(text: object) -> str:
    """Validate 20 bytes of hex; the case is kept. Raises MalformedResponseError."""
    if not isinstance(text, str) or not _is_address(text):
        raise MalformedResponseError("something else in the place of an address")
    return text


@lru_cache(maxsize=16_384)
def _is_address(text: str) -> bool:
    """Return whether it is an address. Cached, because most logs come from the same few contracts."""
    return bool(_ADDRESS.fullmatch(text))


def parse_bloom(text: object) -> int:
    """Parse a bloom filter's 2048 bits. Raises MalformedResponseError."""
    try:
        # Faster than a regular expression. `fromhex` skips spaces, so the length is compared on both sides.
        if isinstance(text, str) and len(text) == _BLOOM_DIGITS and text[:2] == "0x":
            bloom = bytes.fromhex(text[2:])
            if 2 * len(bloom) + 2 == _BLOOM_DIGITS:
                return int.from_bytes(bloom)
    except ValueError:
        pass
    raise MalformedResponseError("something else in the place of a bloom filter")


def parse_data(text: object) -> str:
    """Validate hex bytes of any length; the case is kept. Raises MalformedResponseError."""
    try:
        # Lengths are compared because `fromhex` skips spaces; a regular expression is ten times slower on long texts.
        if isinstance(text, str) and text[:2] == "0x" and 2 * len(bytes.fromhex(text[2:])) + 2 == len(text):
            return text
    except ValueError:
        pass
    raise MalformedResponseError("something else in the place of bytes")


def parse_list(value: object, *, of: str) -> list[object]:
    """Validate a list; `of` names its expected content in the error. Raises MalformedResponseError."""
    if not isinstance(value, list):
        raise MalformedResponseError(f"something else in the place of {of}")
    return value


def parse_object(value: object, *, of: str) -> dict[str, object]:
    """Validate an object; `of` names it in the error. Raises MalformedResponseError."""
    if not isinstance(value, dict):
        raise MalformedResponseError(f"something else in the place of {of}")
    return value
