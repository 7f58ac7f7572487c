"""Parser for a Farcaster hub's messages: casts and reactions as dataclasses. Pure; all input is validated."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from accounts.profiles.social_responses import parse_fid
from config.http.json_client import Json, json_integer, json_list, json_member
from leaderboard.models import ActionKind, InteractionKind

# The protocol counts seconds from 2021-01-01, UTC.
FARCASTER_EPOCH = 1_609_459_200
# The largest valid timestamp; larger ones are forged.
_MAX_TIMESTAMP = 2**32 - 1
_MAX_TEXT = 10_000
_HASH = re.compile("0x[0-9a-f]{40}")


@dataclass(frozen=True)
class CastMessage:
    """Cast. `parent` is a cast's hash, empty if this cast is no reply; `quoted` has authors' FIDs and hashes."""

    hash: str
    fid: int
    # Seconds since EPOCH.
    timestamp: int
    text: str
    parent: str
    quoted: frozenset[tuple[int, str]]

    @property
    def at(self) -> datetime:
        return _time_from(self.timestamp)

    @property
    def action_kind(self) -> ActionKind:
        """The cast's kind as an action.

        A cast with a parent is a reply, even if it also quotes; a cast in a channel has no parent.
        """
        if self.parent:
            return ActionKind.REPLY
        return ActionKind.QUOTE if self.quoted else ActionKind.POST


@dataclass(frozen=True)
class ReactionMessage:
    """Like or recast; `target` is the hash of the cast."""

    hash: str
    fid: int
    timestamp: int
    kind: InteractionKind
    target: str

    @property
    def at(self) -> datetime:
        return _time_from(self.timestamp)


_REACTIONS = {"REACTION_TYPE_LIKE": InteractionKind.LIKE, "REACTION_TYPE_RECAST": InteractionKind.RECAST}


def farcaster_timestamp(time: datetime) -> int:
    """Return a time in whole seconds since FARCASTER_EPOCH."""
    return int(time.timestamp()) - FARCASTER_EPOCH


def _time_from(timestamp: int) -> datetime:
    """Convert a protocol timestamp to a time."""
    return datetime.fromtimestamp(FARCASTER_EPOCH + timestamp, tz=UTC)


def parse_cast(message: Json) -> CastMessage | None:
    """Parse a MESSAGE_TYPE_CAST_ADD message; None for other types or without hash, author or time.

    https://docs.neynar.com/snapchain/httpapi/casts
    """
    head = _parse_head(message, "MESSAGE_TYPE_CAST_ADD")
    if head is None:
        return None
    body = json_member(json_member(message, "data"), "castAddBody")
    text = json_member(body, "text")
    cast_ids = [json_member(embed, "castId") for embed in json_list(json_member(body, "embeds"))]
    quoted = {
        (parse_fid(json_member(cast_id, "fid")) or 0, _hash(json_member(cast_id, "hash"))) for cast_id in cast_ids
    }
    return CastMessage(
        *head,
        text=text[:_MAX_TEXT] if isinstance(text, str) else "",
        parent=_hash(json_member(json_member(body, "parentCastId"), "hash")),
        quoted=frozenset(cast_id for cast_id in quoted if cast_id[1]),
    )


def parse_reaction(message: Json) -> ReactionMessage | None:
    """Parse a MESSAGE_TYPE_REACTION_ADD message about a cast; None for any other message.

    https://docs.neynar.com/snapchain/httpapi/reactions
    """
    head = _parse_head(message, "MESSAGE_TYPE_REACTION_ADD")
    body = json_member(json_member(message, "data"), "reactionBody")
    name = json_member(body, "type")
    kind = _REACTIONS.get(name) if isinstance(name, str) else None
    target = _hash(json_member(json_member(body, "targetCastId"), "hash"))
    if head is None or kind is None or not target:
        return None
    return ReactionMessage(*head, kind=kind, target=target)


def _parse_head(message: Json, kind: str) -> tuple[str, int, int] | None:
    """Return a message's hash, author and timestamp; None if it has another type or lacks one of them."""
    data = json_member(message, "data")
    hash_, fid = _hash(json_member(message, "hash")), parse_fid(json_member(data, "fid"))
    timestamp = json_integer(json_member(data, "timestamp"), least=0, most=_MAX_TIMESTAMP)
    if json_member(data, "type") != kind or not hash_ or fid is None or timestamp is None:
        return None
    return hash_, fid, timestamp


def _hash(value: Json) -> str:
    """Return a hash in lower case; empty for anything but 20 bytes in hex."""
    hash_ = value.lower() if isinstance(value, str) else ""
    return hash_ if _HASH.fullmatch(hash_) else ""
