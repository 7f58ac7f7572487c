"""Short keys of long things: events, casts and texts, as the tables of facts hold them."""

import functools
import hashlib
import re
import uuid

from config.unicode import normal_form

# What a text may be changed in and still say the same: links, names, and whatever is neither letter nor digit.
_LINK_OR_NAME = re.compile(r"https?://\S+|@\S+")
_OTHER = re.compile(r"[\W_]+")


def event_key(source: str, event_id: str) -> uuid.UUID:
    """The primary key of the fact that `source` (a partner key, a hub) reports under this id."""
    return uuid.UUID(event_hex(source, event_id))


def event_hex(source: str, event_id: str) -> str:
    """`event_key` as 32 hex digits, for those who make a million of them."""
    return hashlib.blake2b(event_id.encode(), digest_size=16, key=_source_key(source)).hexdigest()


@functools.lru_cache(maxsize=1_024)
def _source_key(source: str) -> bytes:
    return hashlib.sha256(source.encode()).digest()


def cast_key(cast_hash: str) -> int:
    """The first eight bytes of a cast's hash (0x and 40 hex digits) as a signed integer."""
    return int.from_bytes(bytes.fromhex(cast_hash[2:18]), signed=True)


def run_key(event_id: str) -> int:
    """Eight bytes of a digest of the id under which a run is told, whoever tells, as a signed integer."""
    return int.from_bytes(hashlib.blake2b(event_id.encode(), digest_size=8).digest(), signed=True)


def wallet_key(address: str) -> int:
    """The first eight bytes of the SHA-256 of an address, EIP-55 or base58, as a signed integer."""
    return int.from_bytes(hashlib.sha256(address.encode()).digest()[:8], signed=True)


def text_key(text: str) -> int:
    """A key that texts share which differ in case, punctuation, links or names alone; 0 for nothing but these."""
    plain = _OTHER.sub(" ", _LINK_OR_NAME.sub(" ", normal_form(text).casefold())).strip()
    if not plain:
        return 0
    return int.from_bytes(hashlib.blake2b(plain.encode(), digest_size=8).digest(), signed=True)


def hex_of(key: int) -> str:
    """A key as evidence names it, by 16 hex digits: a cast's are the first ones of its hash."""
    return f"{key & (1 << 64) - 1:016x}"


def key_of(text: str) -> int:
    """The key that `hex_of` wrote so. Raises ValueError for any other text."""
    content = bytes.fromhex(text)
    if len(content) != 8:
        raise ValueError("a key has 16 hex digits")
    return int.from_bytes(content, signed=True)
