"""Public site: the pages of tokens."""
