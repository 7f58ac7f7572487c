"""Generations v0 to v3.1, which share Uniswap v3 pools and LP lockers."""
