"""Launch integrity: facts from stored trades and claims, and the facts that these can't show."""
