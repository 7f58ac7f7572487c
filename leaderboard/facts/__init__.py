"""Facts about agents as numpy columns: keys, loading, and counts for rankings."""
