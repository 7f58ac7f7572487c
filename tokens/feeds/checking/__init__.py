"""Checks of feeds beside a node's logs, decoded by their ABI: nothing of the indexer makes a sum or a price."""
