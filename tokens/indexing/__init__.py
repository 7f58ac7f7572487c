"""Launch and event indexing: index requests, rows, unwinding, documents and saved tokens."""
