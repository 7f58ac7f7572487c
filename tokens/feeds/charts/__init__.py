"""TradingView's UDF: symbols, searches and bars of launched tokens."""
