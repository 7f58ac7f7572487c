"""A Farcaster hub's HTTP API: what an agent casts, and what others make of it.

https://docs.neynar.com/snapchain/httpapi/casts and .../reactions. Pages are in order of time.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from django.conf import settings

from config.http.json_client import Retryable, WrongAnswer, get_json, member
from leaderboard.hub.cast_messages import CastMessage, ReactionMessage, read_cast, read_reaction
from leaderboard.models import InteractionKind

PAGE = 500
# A page of the longest casts is a small part of this.
MAX_BYTES = 16 * 1024 * 1024
_MAX_TOKEN = 1_000
# No walk takes longer than so many answers may, however short its pages are and however slow they come.
_LONGEST_WALK = 12

_Message = TypeVar("_Message", CastMessage, ReactionMessage)


class TooSlow(Retryable):
    """A walk that has not come to its end in time."""


def is_configured() -> bool:
    """Whether there is a hub to ask."""
    return bool(settings.FARCASTER_HUB_URL)


def walk_casts(fid: int, *, since: int) -> Iterator[list[CastMessage]]:
    """Pages of the casts of a FID from the time `since` on (seconds since 2021-01-01), the oldest first.

    Raises Retryable and Permanent, as `config.http.json_client.get_json`.
    """
    asked = {"fid": str(fid), "startTimestamp": str(since), "reverse": "false"}
    for page in _walk("castsByFid", asked, read_cast):
        yield [cast for cast in page if cast.fid == fid]


def walk_reactions(fid: int, cast_hash: str, kind: InteractionKind) -> Iterator[list[ReactionMessage]]:
    """Pages of the likes or recasts of a FID's cast, the newest first. Raises as `walk_casts`."""
    asked = {
        "target_fid": str(fid),
        "target_hash": cast_hash,
        "reaction_type": "Like" if kind == InteractionKind.LIKE else "Recast",
        "reverse": "true",
    }
    for page in _walk("reactionsByCast", asked, read_reaction):
        yield [reaction for reaction in page if reaction.target == cast_hash and reaction.kind == kind]


def walk_replies(fid: int, cast_hash: str) -> Iterator[list[CastMessage]]:
    """Pages of the casts that answer a FID's cast, the newest first. Raises as `walk_casts`."""
    for page in _walk("castsByParent", {"fid": str(fid), "hash": cast_hash, "reverse": "true"}, read_cast):
        yield [cast for cast in page if cast.parent == cast_hash]


def _walk(call: str, asked: Mapping[str, str], read: Callable[[Any], _Message | None]) -> Iterator[list[_Message]]:
    """Pages up to the last one, also where one is empty. Raises WrongAnswer for walks that go in circles."""
    until = time.monotonic() + _LONGEST_WALK * settings.SOCIAL_TIMEOUT_SECONDS
    token, tokens = "", {""}
    before: list[Any] = []
    while True:
        answer = get_json(
            f"{settings.FARCASTER_HUB_URL}/v1/{call}",
            params={**asked, "pageSize": str(PAGE), **({"pageToken": token} if token else {})},
            timeout=settings.SOCIAL_TIMEOUT_SECONDS,
            max_bytes=MAX_BYTES,
        )
        messages = member(answer, "messages")
        if not isinstance(messages, list):
            raise WrongAnswer("an answer without a list of messages")
        if messages and messages == before:
            raise WrongAnswer("a page that comes again")
        yield [message for each in messages if (message := read(each)) is not None]
        token, before = answer.get("nextPageToken") or "", messages
        if not token:
            return
        if not isinstance(token, str) or len(token) > _MAX_TOKEN or token in tokens:
            raise WrongAnswer("a page that leads to no other")
        if time.monotonic() > until:
            raise TooSlow("page after page, and no end in time")
        tokens.add(token)
