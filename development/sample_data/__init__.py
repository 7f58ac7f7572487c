"""Invented tokens whose names, senders and markets spread as those of real launchpads do."""
