"""Locked liquidity, and uncollected and claimed fees of tokens."""
