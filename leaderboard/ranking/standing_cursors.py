"""Ranking page cursors: unpadded base64url with the JSON `{"offset": n, "interval": "24h", "snapshot": id}`.

Without the last key a page shows the current ranking. The API returns the first page for an invalid cursor.
"""

import base64
import binascii
from dataclasses import dataclass

import orjson

from config.cursors import CursorError
from config.http.json_client import json_integer
from leaderboard.models import Interval

# A valid cursor has about 70 characters.
_MAX_LENGTH = 512
_MAX_INTEGER = 2**31 - 1
_MAX_BIGINT = 2**63 - 1
# Clients that decode and re-encode may use the standard alphabet.
_ALPHABET = str.maketrans("+/", "-_")


@dataclass(frozen=True)
class StandingPosition:
    """Page start: an offset into a ranking; the current ranking if `snapshot_id` is None."""

    offset: int = 0
    snapshot_id: int | None = None


def encode_cursor(position: StandingPosition, *, interval: Interval) -> str:
    """Encode a position as a cursor."""
    content = {"offset": position.offset, "interval": interval.value, "snapshot": position.snapshot_id}
    return base64.urlsafe_b64encode(orjson.dumps(content)).decode("ascii").rstrip("=")


def decode_cursor(text: str, *, interval: Interval) -> StandingPosition:
    """Decode a cursor; return the first position for an invalid cursor or another interval's cursor."""
    try:
        return parse_cursor(text, interval=interval)
    except CursorError:
        return StandingPosition()


def parse_cursor(text: str, *, interval: Interval) -> StandingPosition:
    """Decode a cursor; return the first position for an empty or another interval's cursor. Raises CursorError."""
    if not text:
        return StandingPosition()
    content = _decode_json(text)
    if not isinstance(content, dict) or content.get("interval") not in Interval.values:
        raise CursorError("must be the cursor of a ranking")
    offset = json_integer(content.get("offset"), least=0, most=_MAX_INTEGER)
    snapshot_id = json_integer(content.get("snapshot"), least=0, most=_MAX_BIGINT)
    if offset is None or (snapshot_id is None and content.get("snapshot") is not None):
        raise CursorError("must have an offset and a ranking of its interval")
    return StandingPosition(offset, snapshot_id) if content["interval"] == interval.value else StandingPosition()


def _decode_json(text: str) -> object:
    if len(text) > _MAX_LENGTH:
        return None
    unpadded = text.rstrip("=").translate(_ALPHABET)
    try:
        return orjson.loads(base64.b64decode(unpadded + "=" * (-len(unpadded) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        return None
