"""Client for a Farcaster hub's HTTP API: an agent's casts, and reactions and replies to them.

https://docs.neynar.com/snapchain/httpapi/casts and .../reactions. Pages are sorted by time.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from django.conf import settings

from config.http.errors import InvalidResponseError, RetryableError
from config.http.json_client import get_json, json_member
from leaderboard.hub.cast_messages import CastMessage, ReactionMessage, parse_cast, parse_reaction
from leaderboard.models import InteractionKind

PAGE_SIZE = 500
# Far more than a page with the longest casts needs.
MAX_BYTES = 16 * 1024 * 1024
_MAX_TOKEN = 1_000
# Deadline for a pagination, in request timeouts, whatever the number and size of its pages.
_MAX_REQUEST_TIMEOUTS = 12

_Message = TypeVar("_Message", CastMessage, ReactionMessage)


class PaginationTimeoutError(RetryableError):
    """Pagination that did not reach its last page before the deadline."""


def is_configured() -> bool:
    """Return whether a hub is configured."""
    return bool(settings.FARCASTER_HUB_URL)


def iterate_casts(fid: int, *, since: int) -> Iterator[list[CastMessage]]:
    """Yield pages with a FID's casts from `since` on (seconds since 2021-01-01), oldest first.

    Raises as `get_json`.
    """
    query = {"fid": str(fid), "startTimestamp": str(since), "reverse": "false"}
    for page in _iterate_pages("castsByFid", query, parse_cast):
        yield [cast for cast in page if cast.fid == fid]


def iterate_reactions(fid: int, cast_hash: str, kind: InteractionKind) -> Iterator[list[ReactionMessage]]:
    """Yield pages with the likes or recasts that a FID's cast has, newest first. Raises as `iterate_casts`."""
    query = {
        "target_fid": str(fid),
        "target_hash": cast_hash,
        "reaction_type": "Like" if kind == InteractionKind.LIKE else "Recast",
        "reverse": "true",
    }
    for page in _iterate_pages("reactionsByCast", query, parse_reaction):
        yield [reaction for reaction in page if reaction.target == cast_hash and reaction.kind == kind]


def iterate_replies(fid: int, cast_hash: str) -> Iterator[list[CastMessage]]:
    """Yield pages with the replies to a FID's cast, newest first. Raises as `iterate_casts`."""
    for page in _iterate_pages("castsByParent", {"fid": str(fid), "hash": cast_hash, "reverse": "true"}, parse_cast):
        yield [cast for cast in page if cast.parent == cast_hash]


def fetch_cast(fid: int, cast_hash: str) -> CastMessage | None:
    """Return a FID's cast with this hash; None for any other response. Raises as `get_json`."""
    cast = parse_cast(_get("castById", {"fid": str(fid), "hash": cast_hash}))
    return cast if cast is not None and (cast.fid, cast.hash) == (fid, cast_hash) else None


def _get(call: str, query: Mapping[str, str]) -> Any:
    return get_json(
        f"{settings.FARCASTER_HUB_URL}/v1/{call}",
        params=query,
        timeout=settings.SOCIAL_TIMEOUT_SECONDS,
        max_bytes=MAX_BYTES,
    )


def _iterate_pages(
    call: str, query: Mapping[str, str], parse: Callable[[Any], _Message | None]
) -> Iterator[list[_Message]]:
    """Yield all pages up to the last one; a page may be empty. Raises InvalidResponseError if pages form a cycle."""
    deadline = time.monotonic() + _MAX_REQUEST_TIMEOUTS * settings.SOCIAL_TIMEOUT_SECONDS
    token, seen_tokens = "", {""}
    previous: list[Any] = []
    while True:
        page_query = {"pageSize": str(PAGE_SIZE)} | ({"pageToken": token} if token else {})
        response = _get(call, {**query, **page_query})
        messages = json_member(response, "messages")
        if not isinstance(messages, list):
            raise InvalidResponseError("response without a list of messages")
        if messages and messages == previous:
            raise InvalidResponseError("the same page twice")
        yield [message for raw in messages if (message := parse(raw)) is not None]
        token, previous = response.get("nextPageToken") or "", messages
        if not token:
            return
        if not isinstance(token, str) or len(token) > _MAX_TOKEN or token in seen_tokens:
            raise InvalidResponseError("invalid or repeated page token")
        if time.monotonic() > deadline:
            raise PaginationTimeoutError("last page not reached before the deadline")
        seen_tokens.add(token)
