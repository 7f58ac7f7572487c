"""Bundled PostgreSQL and Valkey, for installations without servers of their own."""
