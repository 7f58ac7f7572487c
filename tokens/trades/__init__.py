"""Trades, candles, rolling sums, USD prices and markets, written together with their blocks."""
