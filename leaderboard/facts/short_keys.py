"""Short keys for events, casts and texts, as the fact tables store them."""

import functools
import hashlib
import re
import uuid

from config.parsing.unicode import normalize_text

# Differences that are ignored between texts: links, names, and characters that are neither letters nor digits.
_LINK_OR_NAME = re.compile(r"https?://\S+|@\S+")
_OTHER = re.compile(r"[\W_]+")


def event_key(source: str, event_id: str) -> uuid.UUID:
    """Return the primary key for the fact that `source` (a partner key, a hub) reports under this id."""
    return uuid.UUID(event_hex(source, event_id))


def event_hex(source: str, event_id: str) -> str:
    """Return `event_key` as 32 hex digits, for bulk conversion."""
    return hashlib.blake2b(event_id.encode(), digest_size=16, key=_source_key(source)).hexdigest()


@functools.lru_cache(maxsize=1_024)
def _source_key(source: str) -> bytes:
    return hashlib.sha256(source.encode()).digest()


def cast_key(cast_hash: str) -> int:
    """Return a cast hash's first eight bytes as a signed integer; the hash is 0x and 40 hex digits."""
    return int.from_bytes(bytes.fromhex(cast_hash[2:18]), signed=True)


def run_key(event_id: str) -> int:
    """Return eight bytes from a run id's digest, independent of the reporter, as a signed integer."""
    return int.from_bytes(hashlib.blake2b(event_id.encode(), digest_size=8).digest(), signed=True)


def text_key(text: str) -> int:
    """Return a key shared by texts that differ only in case, punctuation, links or names; 0 if nothing else is left."""
    plain = _OTHER.sub(" ", _LINK_OR_NAME.sub(" ", normalize_text(text).casefold())).strip()
    if not plain:
        return 0
    return int.from_bytes(hashlib.blake2b(plain.encode(), digest_size=8).digest(), signed=True)
