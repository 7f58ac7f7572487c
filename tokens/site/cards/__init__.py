"""Share cards: pictures with a token's name and market, for link previews."""
