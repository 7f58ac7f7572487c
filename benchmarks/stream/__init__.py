"""The stream of events with a thousand clients, and the list beside it."""
