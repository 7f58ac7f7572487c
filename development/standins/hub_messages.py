"""Casts and reactions in a Farcaster hub's format, from a test's or a sample's data.

Shapes: https://docs.neynar.com/snapchain/httpapi (casts, reactions). Pages are sorted by time; a page token is the
number of preceding messages.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from development.standins.http_server import StandInResponse

# Seconds from 1970 to the start of Farcaster's clock, 2021-01-01.
EPOCH = 1_609_459_200
_NOT_FOUND = {"errCode": "not_found", "details": "cast not found"}


@dataclass(frozen=True)
class Cast:
    """Cast at a Unix time. `parent` and `quoted` are casts on this hub, each as its author's FID and hash."""

    fid: int
    at: int
    text: str = ""
    parent: tuple[int, str] | None = None
    quoted: tuple[int, str] | None = None

    @property
    def hash(self) -> str:
        return _hash(self)


@dataclass(frozen=True)
class Reaction:
    """Like or recast at a Unix time; `target` is the cast's author and hash."""

    fid: int
    at: int
    kind: str
    target: tuple[int, str]


@dataclass
class Hub:
    """A hub's messages, in any sequence."""

    casts: list[Cast] = field(default_factory=list)
    reactions: list[Reaction] = field(default_factory=list)
    # Upper limit for the page size.
    longest_page: int = 1_000

    def answer(self, path: str, query: Mapping[str, str]) -> StandInResponse | None:
        """Return the response to a GET; None for a path about neither casts nor reactions."""
        fid = int(query.get("fid") or query.get("target_fid") or 0)
        if path == "/v1/castsByFid":
            since = EPOCH + int(query.get("startTimestamp", "0"))
            return self._page([_cast(cast) for cast in self.casts if cast.fid == fid and cast.at >= since], query)
        if path == "/v1/castById":
            asked = (fid, query.get("hash", ""))
            found_cast = next((cast for cast in self.casts if (cast.fid, cast.hash) == asked), None)
            return StandInResponse(_cast(found_cast)) if found_cast else StandInResponse(_NOT_FOUND, status=404)
        if path == "/v1/castsByParent":
            parent = (fid, query.get("hash", ""))
            return self._page([_cast(cast) for cast in self.casts if cast.parent == parent], query)
        if path == "/v1/reactionsByCast":
            target, kind = (fid, query.get("target_hash", "")), query.get("reaction_type", "")
            reactions = [reaction for reaction in self.reactions if reaction.target == target and reaction.kind == kind]
            return self._page([_reaction(reaction) for reaction in reactions], query)
        return None

    def _page(self, messages: Sequence[dict[str, Any]], query: Mapping[str, str]) -> StandInResponse:
        newest_first = query.get("reverse") == "true"
        ordered = sorted(
            messages, key=lambda message: (message["data"]["timestamp"], message["hash"]), reverse=newest_first
        )
        start = int(query.get("pageToken") or 0)
        end = start + min(int(query.get("pageSize", "1000")), self.longest_page)
        return StandInResponse(
            {"messages": ordered[start:end], "nextPageToken": str(end) if end < len(ordered) else ""}
        )


def _cast(cast: Cast) -> dict[str, Any]:
    body: dict[str, Any] = {"text": cast.text, "mentions": [], "mentionsPositions": [], "embeds": []}
    if cast.quoted:
        body["embeds"] = [{"castId": _cast_id(cast.quoted)}]
    if cast.parent:
        body["parentCastId"] = _cast_id(cast.parent)
    return _message(cast, "CAST_ADD", cast.fid, cast.at, castAddBody=body)


def _reaction(reaction: Reaction) -> dict[str, Any]:
    body = {"type": f"REACTION_TYPE_{reaction.kind.upper()}", "targetCastId": _cast_id(reaction.target)}
    return _message(reaction, "REACTION_ADD", reaction.fid, reaction.at, reactionBody=body)


def _message(content: Cast | Reaction, kind: str, fid: int, at: int, **body: Any) -> dict[str, Any]:
    return {
        "data": {
            "type": f"MESSAGE_TYPE_{kind}",
            "fid": fid,
            "timestamp": at - EPOCH,
            "network": "FARCASTER_NETWORK_MAINNET",
            **body,
        },
        "hash": _hash(content),
        "hashScheme": "HASH_SCHEME_BLAKE3",
        "signature": "c2FtcGxl",
        "signatureScheme": "SIGNATURE_SCHEME_ED25519",
        "signer": "0x" + hashlib.sha256(f"signer {fid}".encode()).hexdigest(),
    }


def _cast_id(cast: tuple[int, str]) -> dict[str, Any]:
    return {"fid": cast[0], "hash": cast[1]}


def _hash(content: Cast | Reaction) -> str:
    return "0x" + hashlib.sha256(repr(content).encode()).hexdigest()[:40]
