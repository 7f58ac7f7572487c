"""Public site: token pages."""
