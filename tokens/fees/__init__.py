"""Locked liquidity, uncollected fees and claimed fees."""
