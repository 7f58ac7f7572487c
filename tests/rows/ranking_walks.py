"""Rankings for tests on GET /api/droid/leaderboard, and walks through them."""

from datetime import UTC, datetime, timedelta

from django.utils import timezone

from leaderboard.models import Snapshot
from tests.rows.agent_factories import SnapshotFactory, StandingFactory

URL = "/api/droid/leaderboard"
COMPUTED = datetime(2026, 2, 7, 3, 50, 49, tzinfo=UTC)
PUBLIC, ADMINISTRATOR = "public, s-maxage=30, stale-while-revalidate=60", "private, no-store"


def make_snapshot(size=3, interval="24h", computed_at=COMPUTED, **columns):
    snapshot = SnapshotFactory(interval=interval, computed_at=computed_at, ranked=size, **columns)
    for rank in range(1, size + 1):
        StandingFactory(
            snapshot=snapshot,
            rank=rank,
            token_chain_id=8453,
            token_address="0x3fbE62c928df8A3EE07873270516b03C16850A33",
            token_name="Тройка",
            token_symbol="TROIKA",
            composite=77.123,
            components={"reliability": 0.4321},
            wash_confidence=0.8765,
            wash_flags=["NARROW"],
            evidence={"NARROW": {"accounts": [123]}},
        )
    return snapshot


def replace(snapshot, size=3):
    """Replace the interval's current ranking by another one."""
    Snapshot.objects.filter(pk=snapshot.pk).update(is_current=False, replaced_at=timezone.now())
    return make_snapshot(size, interval=snapshot.interval, computed_at=snapshot.computed_at + timedelta(minutes=5))


def walk(client, headers=None, cursor="", **query):
    """Return all pages, to the last."""
    pages = []
    while cursor is not None:
        pages.append(client.get(URL, {**query, "cursor": cursor}, headers=headers))
        cursor = pages[-1].json()["cursor"]
    return pages


def kept(answer):
    """Return the Cache-Control and Vary headers."""
    return answer["Cache-Control"], answer["Vary"]


def ranks(pages):
    return [row["rank"] for page in pages for row in page.json()["data"]]
