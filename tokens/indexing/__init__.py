"""Indexing of launches and later events: index requests, rows, unwinding, documents and saved tokens."""
