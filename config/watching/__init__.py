"""Apps of optional packages that send errors and traces elsewhere, each added by its setting."""
