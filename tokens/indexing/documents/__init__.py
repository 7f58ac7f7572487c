"""Off-chain token documents: location, content, rows and fetching."""
