"""What a Farcaster hub tells of casts and reactions, in one shape. Pure, and nothing that comes in is believed."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from accounts.profiles.social_responses import read_fid
from config.http.json_client import Json, items, member, whole_number
from leaderboard.models import ActionKind, InteractionKind

# The protocol counts seconds from 2021-01-01, UTC.
EPOCH = 1_609_459_200
# Its clock in a hub is never so far; what claims more is made up.
_MAX_TIMESTAMP = 2**32 - 1
_MAX_TEXT = 10_000
_HASH = re.compile("0x[0-9a-f]{40}")


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
    body = member(member(message, "data"), "castAddBody")
    text = member(body, "text")
    quoted = {_hash(member(member(embed, "castId"), "hash")) for embed in items(member(body, "embeds"))}
    return CastMessage(
        *head,
        text=text[:_MAX_TEXT] if isinstance(text, str) else "",
        parent=_hash(member(member(body, "parentCastId"), "hash")),
        quoted=frozenset(quoted - {""}),
    )


def read_reaction(message: Json) -> ReactionMessage | None:
    """A message MESSAGE_TYPE_REACTION_ADD about a cast; None for any other.

    https://docs.neynar.com/snapchain/httpapi/reactions
    """
    head = _read_head(message, "MESSAGE_TYPE_REACTION_ADD")
    body = member(member(message, "data"), "reactionBody")
    name = member(body, "type")
    kind = _REACTIONS.get(name) if isinstance(name, str) else None
    target = _hash(member(member(body, "targetCastId"), "hash"))
    if head is None or kind is None or not target:
        return None
    return ReactionMessage(*head, kind=kind, target=target)


def _read_head(message: Json, kind: str) -> tuple[str, int, int] | None:
    """Hash, author and time of a message of this type."""
    data = member(message, "data")
    hash_, fid = _hash(member(message, "hash")), read_fid(member(data, "fid"))
    timestamp = whole_number(member(data, "timestamp"), least=0, most=_MAX_TIMESTAMP)
    if member(data, "type") != kind or not hash_ or fid is None or timestamp is None:
        return None
    return hash_, fid, timestamp


def _hash(value: Json) -> str:
    """In lower case; empty for anything but 20 bytes in hex."""
    found = value.lower() if isinstance(value, str) else ""
    return found if _HASH.fullmatch(found) else ""
