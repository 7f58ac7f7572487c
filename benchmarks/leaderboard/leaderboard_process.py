"""The process that makes one ranking, for `leaderboard_ranking`: Django is set up before it is imported."""

import json
import sys
import time
from datetime import UTC, datetime

from benchmarks.leaderboard.agent_population import COMPUTED_AT
from leaderboard.models import Interval
from leaderboard.ranking.snapshot_building import build_snapshot


def main() -> None:
    """Make the ranking for the interval that is named last, and print what it took."""
    started = time.monotonic()
    snapshot = build_snapshot(Interval(sys.argv[-1]), computed_at=datetime.fromtimestamp(COMPUTED_AT, UTC))
    print(json.dumps({"seconds": time.monotonic() - started, "ranked": snapshot.ranked}))
