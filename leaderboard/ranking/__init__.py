"""Rankings of agents: scores, snapshots, pages and their schedule."""
