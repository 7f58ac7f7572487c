"""Verification of final blocks: a second reading, its comparison with the rows, and their repair."""
