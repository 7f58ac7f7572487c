"""Checks of an installation for operators: what was found in servers, nodes, settings and rows, and what to do."""
