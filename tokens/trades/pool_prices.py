"""Prices of pools as exact numbers, from the square root that their contracts store."""

from decimal import Context, Decimal
from functools import lru_cache

from tokens.chains.pool_types import Swap

# The precision of `PoolTrade.price`, and of prices in USD.
PRICE = Context(prec=24)
USD = Context(prec=15)

# More digits than 2^192 has.
_EXACT = Context(prec=100)
_ONE = Decimal(2**192)


def is_exchange(swap: Swap) -> bool:
    """Return whether the pool received one currency and paid the other: neither amount was rounded to zero."""
    return swap.amount0 < 0 < swap.amount1 or swap.amount1 < 0 < swap.amount0


def pool_price(
    sqrt_price: int, *, decimals: int, quote_decimals: int, is_currency0: bool, precision: Context = PRICE
) -> Decimal | None:
    """Return the price of a whole token in whole units of the pool's other currency, rounded once.

    `sqrt_price` is that of `Swap`; None for a price of zero, which no pool of Uniswap has.
    """
    if not sqrt_price:
        return None
    square = Decimal(sqrt_price * sqrt_price)
    shift = decimals - quote_decimals
    return precision.divide(square, _one(-shift)) if is_currency0 else precision.divide(_one(shift), square)


@lru_cache(maxsize=256)
def _one(shift: int) -> Decimal:
    """Return the square of a price of 1, times 10 to that power: exact, so that a quotient is rounded once."""
    return _ONE.scaleb(shift, _EXACT)
