"""API views of the leaderboard."""
