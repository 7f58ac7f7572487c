"""Leaderboard admin pages. Django loads them by importing this package."""

from leaderboard.admin import agent_pages, ranking_pages

__all__ = ["agent_pages", "ranking_pages"]
