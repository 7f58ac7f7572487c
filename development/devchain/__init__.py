"""Development chain: a local node, contracts, and a sample token launcher. Not for production."""
