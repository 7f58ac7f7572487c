"""Prices bounded by pool liquidity, and the repair of stored prices."""
