"""Backlogs for pool logs in blocks that were read before their token, or its quote token's decimals, became known."""
