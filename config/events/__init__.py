"""Outbox of events, their publication, and the types with their schemas."""
