"""Operators of the admin site: roles, lockout and second factor."""
