"""Unsigned transactions: described actions in, simulated contract calls out, for the caller's own wallet to sign."""
