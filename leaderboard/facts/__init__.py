"""Facts about agents as numpy columns: keys, loading, and counts that ranking and wash detection share."""
