"""Share cards: pictures of a token's name and market for previews of links."""
