"""Pages of a ranking, as they are answered. What the score was made of is read for those alone who may see it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Exists, OuterRef, When

from leaderboard.models import Interval, Snapshot, Standing
from leaderboard.ranking.standing_cursors import Place
from tokens.models import Token

Row = Mapping[str, Any]

_PUBLIC = (
    "rank",
    "public_id",
    "agent_name",
    "fid",
    "token_chain_id",
    "token_address",
    "token_name",
    "token_symbol",
    "runs_succeeded",
    "runs_failed",
    "posts",
    "replies",
    "quotes",
    "interactions",
    "creator_fid",
    "creator_score",
    "last_active_at",
    "snapshot_id",
    "snapshot__computed_at",
    "snapshot__ranked",
)
_SCORE = ("composite", "components", "wash_confidence", "wash_flags")


@dataclass(frozen=True)
class Page:
    """Some standings as the contract's rows, and where the next page begins; None after the last."""

    rows: list[dict[str, Any]]
    following: Place | None


def read_page(interval: Interval, place: Place, *, limit: int, with_score: bool) -> Page:
    """The page that begins there; the current ranking's first one where the ranking of the place is gone.

    Empty beyond the end of a ranking, and where there is none yet.
    """
    rows = _read(interval, place, limit, with_score)
    if not rows and place.snapshot_id is not None and not _is_kept(interval, place.snapshot_id):
        rows = _read(interval, Place(), limit, with_score)
    if not rows or rows[-1]["rank"] >= rows[-1]["snapshot__ranked"]:
        following = None
    else:
        following = Place(rows[-1]["rank"], rows[-1]["snapshot_id"])
    # What operators have blocked or hidden since is not shown: the page is shorter then, and the ranks stay.
    return Page([_record(row, with_score=with_score) for row in rows if not row["is_gone"]], following)


def _read(interval: Interval, place: Place, limit: int, with_score: bool) -> list[Row]:
    standings = Standing.objects.filter(snapshot__interval=interval)
    if place.snapshot_id is None:
        standings = standings.filter(snapshot__is_current=True)
    else:
        standings = standings.filter(snapshot_id=place.snapshot_id)
    # Ranks have no gaps, so that a page is a part of an index, however far down it is.
    ranked = standings.filter(rank__gt=place.offset, rank__lte=place.offset + limit).order_by("rank")
    blocked = Token.objects.filter(
        chain_id=OuterRef("token_chain_id"), contract_address=OuterRef("token_address"), blocked=True
    )
    gone = Case(When(agent__is_hidden=True, then=True), default=Exists(blocked))
    return list(ranked.annotate(is_gone=gone).values("is_gone", *_PUBLIC, *(_SCORE if with_score else ())))


def _is_kept(interval: Interval, snapshot_id: int) -> bool:
    return Snapshot.objects.filter(pk=snapshot_id, interval=interval).exists()


def _record(row: Row, *, with_score: bool) -> dict[str, Any]:
    """The contract's row, its keys in the contract's order; unknown texts are null."""
    record = {
        "rank": row["rank"],
        "agentId": row["public_id"],
        "agentName": row["agent_name"] or None,
        "fid": row["fid"],
        "token": {
            "chainId": row["token_chain_id"],
            "address": row["token_address"],
            "name": row["token_name"] or None,
            "symbol": row["token_symbol"] or None,
        },
        "runs": {
            "total": row["runs_succeeded"] + row["runs_failed"],
            "succeeded": row["runs_succeeded"],
            "failed": row["runs_failed"],
        },
        "actions": {"posts": row["posts"], "replies": row["replies"], "quotes": row["quotes"]},
        "castMetrics": {
            "casts": row["posts"] + row["replies"] + row["quotes"],
            "interactions": row["interactions"],
        },
        "creator": {"fid": row["creator_fid"], "socialScore": row["creator_score"]},
        "lastActiveAt": row["last_active_at"],
        "computedAt": row["snapshot__computed_at"],
    }
    return record | {"score": _score(row)} if with_score else record


def _score(row: Row) -> dict[str, Any]:
    return {
        "composite": row["composite"],
        "components": row["components"],
        "washConfidence": row["wash_confidence"],
        "washFlags": row["wash_flags"],
    }
