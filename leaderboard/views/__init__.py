"""The endpoints of the leaderboard of agents."""
