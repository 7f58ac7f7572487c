"""Documents that describe tokens outside of the chain: their location, content, rows and fetching."""
