"""Checks that compare feeds with a node's logs, decoded by their ABI: no indexer code computes a sum or a price."""
