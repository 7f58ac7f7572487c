"""Event outbox, publication, and event types with their schemas."""
