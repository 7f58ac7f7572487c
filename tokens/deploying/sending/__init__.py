"""Sending: stored deployments get nonces, signatures, broadcasts, and settlement by the chain."""
