"""Trades in the admin site: token charts and trades, the dashboard panel, partitions on disk."""
