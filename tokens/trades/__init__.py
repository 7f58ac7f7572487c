"""Trades of indexed tokens: rows, candles, rolling sums, prices in USD and markets, written with their blocks."""
