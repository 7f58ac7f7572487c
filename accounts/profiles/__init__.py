"""Social profiles of deployers, fetched from the social protocol's provider."""
