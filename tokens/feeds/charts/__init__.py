"""TradingView's UDF: symbols, searches and bars for launched tokens."""
