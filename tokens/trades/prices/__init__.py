"""Prices that count: bounded by the liquidity of their pools, and the repair of stored ones."""
