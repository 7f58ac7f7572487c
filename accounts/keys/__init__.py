"""Partner keys and their usage."""
