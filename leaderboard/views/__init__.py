"""Leaderboard API views."""
