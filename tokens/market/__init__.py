"""Market data: refreshes from the provider, price history and trending pools."""
