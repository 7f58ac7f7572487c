"""Parts of a token's page: heading, chart, trades, facts of the launch, claims, verification."""
