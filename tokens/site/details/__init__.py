"""Parts of a token's page: heading, chart, trades, launch facts, claims, verification."""
