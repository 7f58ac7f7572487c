"""Cursors of walks through a ranking: unpadded base64url of JSON `{"offset": n, "interval": "24h", "snapshot": id}`.

Without the last key a page is one of the current ranking. Whatever else a cursor may be, it is ignored: such a walk
begins anew.
"""

import base64
import binascii
from dataclasses import dataclass

import orjson

from leaderboard.models import Interval

# One of ours has about 70 characters.
_MAX_LENGTH = 512
_MAX_INTEGER = 2**31 - 1
_MAX_BIGINT = 2**63 - 1
# Clients that decode and encode anew may use the other alphabet.
_ALPHABET = str.maketrans("+/", "-_")


@dataclass(frozen=True)
class Place:
    """Where a page begins: after so many standings of a ranking, which is the current one where none is named."""

    offset: int = 0
    snapshot_id: int | None = None


def encode(place: Place, *, interval: Interval) -> str:
    """The text of a cursor."""
    content = {"offset": place.offset, "interval": interval.value, "snapshot": place.snapshot_id}
    return base64.urlsafe_b64encode(orjson.dumps(content)).decode("ascii").rstrip("=")


def decode(text: str, *, interval: Interval) -> Place:
    """Where the cursor says that the page begins; the beginning where it is none, or one of another interval."""
    content = _read(text)
    if not isinstance(content, dict) or content.get("interval") != interval.value:
        return Place()
    offset = _whole(content.get("offset"), most=_MAX_INTEGER)
    snapshot_id = _whole(content.get("snapshot"), most=_MAX_BIGINT)
    if offset is None or (snapshot_id is None and content.get("snapshot") is not None):
        return Place()
    return Place(offset, snapshot_id)


def _read(text: str) -> object:
    if len(text) > _MAX_LENGTH:
        return None
    plain = text.rstrip("=").translate(_ALPHABET)
    try:
        return orjson.loads(base64.b64decode(plain + "=" * (-len(plain) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        return None


def _whole(value: object, *, most: int) -> int | None:
    # A boolean is an int to Python, not to a caller.
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= most else None
