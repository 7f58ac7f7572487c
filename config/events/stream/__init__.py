"""Stream of public token events as server-sent events: a process of its own, without Django's models."""
