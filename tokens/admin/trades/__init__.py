"""Trades in the admin site: a token's chart and trades, the dashboard's panel, partitions on disk."""
