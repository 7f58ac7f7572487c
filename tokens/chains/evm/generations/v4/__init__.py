"""Generation v4, with Uniswap v4 pools."""
