"""Stream of public token events as server-sent events: a separate process, without Django's models."""
