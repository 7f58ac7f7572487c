"""Management commands for development and trials."""
