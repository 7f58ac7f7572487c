"""Views of the public site's pages."""
