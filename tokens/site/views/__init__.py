"""Views for the public site."""
