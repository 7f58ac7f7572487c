"""World of an established, dense community whose attackers work slowly and with few, expensive accounts."""

from benchmarks.leaderboard.worlds.meadow.meadow_world import build_world

__all__ = ["build_world"]
