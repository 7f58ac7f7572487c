"""Admin site operators: roles, lockout and second factor."""
