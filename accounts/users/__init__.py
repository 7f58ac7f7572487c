"""Users: verified token identities, and the persons behind them."""
