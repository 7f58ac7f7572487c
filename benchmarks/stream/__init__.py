"""The event stream with a thousand clients, and the list beside it."""
