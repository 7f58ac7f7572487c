"""Deployers' social profiles, fetched from the social protocol's provider."""
