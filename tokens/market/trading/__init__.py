"""A token's trades and candles, read from followed chains' rows."""
