"""Encoding of launches: configuration, factory calls, ticks and the airdrop's Merkle tree."""
