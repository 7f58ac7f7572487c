"""Bundled PostgreSQL and Valkey, for installations without their own servers."""
