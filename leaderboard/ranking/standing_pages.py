"""Ranking pages as API rows. The score breakdown is read only for administrators."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Exists, OuterRef, When

from config.postgresql.replica import require_primary
from leaderboard.models import Interval, Snapshot, Standing
from leaderboard.ranking import responses
from leaderboard.ranking.standing_cursors import StandingPosition
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
    "snapshot__large_audience",
)
_SCORE = ("composite", "components", "wash_confidence", "wash_flags")


@dataclass(frozen=True)
class StandingPage:
    """Standings as API rows, and the next page's position; None after the last page.

    `large_audience` is the snapshot's.
    """

    rows: list[responses.StandingShape]
    next_position: StandingPosition | None
    large_audience: float | None


def read_standing_page(interval: Interval, position: StandingPosition, *, limit: int, with_score: bool) -> StandingPage:
    """Return the page at a position, or the current ranking's first page if the position's ranking was deleted.

    The page is empty beyond a ranking's end, and if there is no ranking yet.
    """
    rows = _read(interval, position, limit, with_score)
    if not rows and position.snapshot_id is not None and not _snapshot_exists(interval, position.snapshot_id):
        # The snapshot may be newer than the replica.
        require_primary()
        rows = _read(interval, StandingPosition(), limit, with_score)
    if not rows or rows[-1]["rank"] >= rows[-1]["snapshot__ranked"]:
        next_position = None
    else:
        next_position = StandingPosition(rows[-1]["rank"], rows[-1]["snapshot_id"])
    # Agents hidden and tokens blocked since the ranking are left out: the page is shorter, and ranks have gaps.
    return StandingPage(
        [_to_api(row, with_score=with_score) for row in rows if not row["is_gone"]],
        next_position,
        large_audience=rows[0]["snapshot__large_audience"] if rows else None,
    )


def _read(interval: Interval, position: StandingPosition, limit: int, with_score: bool) -> list[Row]:
    standings = Standing.objects.filter(snapshot__interval=interval)
    if position.snapshot_id is None:
        standings = standings.filter(snapshot__is_current=True)
    else:
        standings = standings.filter(snapshot_id=position.snapshot_id)
    # Stored ranks have no gaps, so a page at any offset is one index range.
    ranked = standings.filter(rank__gt=position.offset, rank__lte=position.offset + limit).order_by("rank")
    blocked = Token.objects.filter(
        chain_id=OuterRef("token_chain_id"), contract_address=OuterRef("token_address"), blocked=True
    )
    hidden = Case(When(agent__is_hidden=True, then=True), default=Exists(blocked))
    return list(ranked.annotate(is_gone=hidden).values("is_gone", *_PUBLIC, *(_SCORE if with_score else ())))


def _snapshot_exists(interval: Interval, snapshot_id: int) -> bool:
    return Snapshot.objects.filter(pk=snapshot_id, interval=interval).exists()


def _to_api(row: Row, *, with_score: bool) -> responses.StandingShape:
    """Build the API row with keys in the contract's sequence; unknown texts are null."""
    record: responses.StandingShape = {
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
    return {**record, "score": _score_to_api(row)} if with_score else record


def _score_to_api(row: Row) -> responses.StandingScoreShape:
    return {
        "composite": row["composite"],
        "components": row["components"],
        "washConfidence": row["wash_confidence"],
        "washFlags": row["wash_flags"],
    }
