"""Token lists, searches and details, and their public pages."""
