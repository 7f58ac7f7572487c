"""An established, dense community's world, with slow attackers and few, expensive accounts."""

from benchmarks.leaderboard.worlds.meadow.meadow_world import build_world

__all__ = ["build_world"]
