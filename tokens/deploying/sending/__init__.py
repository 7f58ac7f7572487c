"""Sending of stored deployments: nonces, signatures, broadcasts, and settlement by the chain."""
