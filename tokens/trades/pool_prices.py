"""Pool prices as exact numbers, from the square root that pools store."""

from decimal import Context, Decimal
from functools import lru_cache

from tokens.chains.pool_types import Swap

# Digits in `PoolTrade.price`, and in USD prices.
PRICE = Context(prec=24)
USD = Context(prec=15)

# More digits than 2^192 has.
_EXACT = Context(prec=120)
_ONE = Decimal(2**192)
_Q32, _Q128 = 1 << 32, 1 << 128
_STEP = _EXACT.sqrt(Decimal("1.0001"))
# TickMath's factors: 2^128 / sqrt(1.0001^(2^n)), rounded half up.
_FACTORS = tuple(
    int(_EXACT.add(_EXACT.divide(Decimal(_Q128), _EXACT.power(_STEP, 2**bit)), Decimal("0.5"))) for bit in range(20)
)


def is_exchange(swap: Swap) -> bool:
    """Return whether the pool received one currency and paid the other: neither amount was rounded to zero."""
    return swap.amount0 < 0 < swap.amount1 or swap.amount1 < 0 < swap.amount0


def pool_price(
    sqrt_price: int, *, decimals: int, quote_decimals: int, is_currency0: bool, precision: Context = PRICE
) -> Decimal | None:
    """Return the price per whole token in whole units of the pool's other currency, rounded once.

    `sqrt_price` is `Swap.sqrt_price`; the price is None for 0, which no Uniswap pool has.
    """
    if not sqrt_price:
        return None
    square = Decimal(sqrt_price * sqrt_price)
    shift = decimals - quote_decimals
    return precision.divide(square, _one(-shift)) if is_currency0 else precision.divide(_one(shift), square)


def price_root(price: Decimal, *, decimals: int, quote_decimals: int, is_currency0: bool) -> int:
    """Return the square root for a stored price: the inverse of `pool_price`, as precise as the price."""
    ratio = price.scaleb(quote_decimals - decimals, _EXACT)
    exact = _EXACT.multiply(_ONE, ratio) if is_currency0 else _EXACT.divide(_ONE, ratio)
    return int(_EXACT.sqrt(exact))


@lru_cache(maxsize=16_384)
def tick_root(tick: int) -> int:
    """Return the square root of the price at a tick, as TickMath.getSqrtPriceAtTick in Uniswap v3 and v4."""
    ratio = _Q128
    for bit, factor in enumerate(_FACTORS):
        if abs(tick) >> bit & 1:
            ratio = ratio * factor >> 128
    if tick > 0:
        ratio = (_Q128 * _Q128 - 1) // ratio
    return -(-ratio // _Q32)


@lru_cache(maxsize=256)
def _one(shift: int) -> Decimal:
    """Return the squared root for price 1, times 10^shift: exact, so that a quotient is rounded once."""
    return _ONE.scaleb(shift, _EXACT)
