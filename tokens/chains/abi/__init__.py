"""ABI decoding and encoding of contracts, and of their reverts."""
