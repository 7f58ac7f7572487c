"""Feeds in aggregators' formats, built from stored trades, liquidity changes and candles; off by default."""
