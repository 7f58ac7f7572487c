"""Leaderboard metrics."""

from config.watching.metrics import register_collectors
from leaderboard.ranking.metrics import ranking_metrics

register_collectors(ranking_metrics)
