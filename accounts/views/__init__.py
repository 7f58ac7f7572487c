"""The API endpoints of administrators, and the pages of the second factor."""
