"""Swaps in tokens' own pools: routes, quotes by Uniswap's quoters, router calldata, allowances, and costs."""
