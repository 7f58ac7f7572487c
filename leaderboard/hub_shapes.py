"""What a Farcaster hub tells of casts and reactions, in one shape. Pure, and nothing that comes in is believed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from accounts.social_shapes import MAX_FID
from leaderboard.models import ActionKind, InteractionKind

# The protocol counts seconds from 2021-01-01, UTC.
EPOCH = 1_609_459_200
# Its clock in a hub is never so far; what claims more is made up.
_MAX_TIMESTAMP = 2**32 - 1
_MAX_TEXT = 10_000
_HASH = re.compile("0x[0-9a-f]{40}")

Json = Any


@dataclass(frozen=True)
class CastMessage:
    """A cast. `parent` and `quoted` are hashes of casts; `parent` is empty for what answers none."""

    hash: str
    fid: int
    # Seconds since EPOCH.
    timestamp: int
    text: str
    parent: str
    quoted: frozenset[str]

    @property
    def at(self) -> datetime:
        return _time_of(self.timestamp)

    @property
    def action_kind(self) -> ActionKind:
        """A cast that answers another is a reply, whatever it quotes; one in a channel answers none."""
        if self.parent:
            return ActionKind.REPLY
        return ActionKind.QUOTE if self.quoted else ActionKind.POST


@dataclass(frozen=True)
class ReactionMessage:
    """A like or recast of the cast whose hash is `target`."""

    hash: str
    fid: int
    timestamp: int
    kind: InteractionKind
    target: str

    @property
    def at(self) -> datetime:
        return _time_of(self.timestamp)


_REACTIONS = {"REACTION_TYPE_LIKE": InteractionKind.LIKE, "REACTION_TYPE_RECAST": InteractionKind.RECAST}


def timestamp_of(time: datetime) -> int:
    """The protocol's count at a time, in whole seconds."""
    return int(time.timestamp()) - EPOCH


def _time_of(timestamp: int) -> datetime:
    """The time that the protocol's count means."""
    return datetime.fromtimestamp(EPOCH + timestamp, tz=UTC)


def read_cast(message: Json) -> CastMessage | None:
    """A message MESSAGE_TYPE_CAST_ADD; None for any other, and for one without hash, author or time.

    https://docs.neynar.com/snapchain/httpapi/casts
    """
    head = _read_head(message, "MESSAGE_TYPE_CAST_ADD")
    if head is None:
        return None
    body = _get(_get(message, "data"), "castAddBody")
    text, embeds = _get(body, "text"), _get(body, "embeds")
    quoted = {_hash(_get(_get(embed, "castId"), "hash")) for embed in embeds} if isinstance(embeds, list) else set()
    return CastMessage(
        *head,
        text=text[:_MAX_TEXT] if isinstance(text, str) else "",
        parent=_hash(_get(_get(body, "parentCastId"), "hash")),
        quoted=frozenset(quoted - {""}),
    )


def read_reaction(message: Json) -> ReactionMessage | None:
    """A message MESSAGE_TYPE_REACTION_ADD about a cast; None for any other.

    https://docs.neynar.com/snapchain/httpapi/reactions
    """
    head = _read_head(message, "MESSAGE_TYPE_REACTION_ADD")
    body = _get(_get(message, "data"), "reactionBody")
    name = _get(body, "type")
    kind = _REACTIONS.get(name) if isinstance(name, str) else None
    target = _hash(_get(_get(body, "targetCastId"), "hash"))
    if head is None or kind is None or not target:
        return None
    return ReactionMessage(*head, kind=kind, target=target)


def _read_head(message: Json, kind: str) -> tuple[str, int, int] | None:
    """Hash, author and time of a message of this type."""
    data = _get(message, "data")
    hash_, fid, timestamp = _hash(_get(message, "hash")), _get(data, "fid"), _get(data, "timestamp")
    if _get(data, "type") != kind or not hash_:
        return None
    # A boolean is an int to Python.
    if type(fid) is not int or not 0 < fid <= MAX_FID:
        return None
    if type(timestamp) is not int or not 0 <= timestamp <= _MAX_TIMESTAMP:
        return None
    return hash_, fid, timestamp


def _get(value: Json, name: str) -> Json:
    return value.get(name) if isinstance(value, Mapping) else None


def _hash(value: Json) -> str:
    """In lower case; empty for anything but 20 bytes in hex."""
    found = value.lower() if isinstance(value, str) else ""
    return found if _HASH.fullmatch(found) else ""
