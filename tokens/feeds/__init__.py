"""Feeds in the formats of aggregators, made of stored trades, liquidity changes and candles; off by default."""
