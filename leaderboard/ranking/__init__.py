"""Agent rankings: scores, snapshots, pages and their schedule."""
