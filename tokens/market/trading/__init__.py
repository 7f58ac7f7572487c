"""A token's trades and candles, read from the rows of followed chains."""
