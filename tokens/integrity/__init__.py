"""Launch integrity: facts about launches from stored trades and claims, and what these can't show."""
