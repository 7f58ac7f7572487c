"""Development chain: a local node, contracts, and a launcher of sample tokens. Not for production."""
