"""Invented tokens, markets and agents, distributed as on real launchpads."""
