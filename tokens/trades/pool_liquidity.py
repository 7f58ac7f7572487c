"""Liquidity in pools of Uniswap: what their ranges of ticks hold at a price."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import NamedTuple

from django.db.models import Sum

from tokens.models import PoolLiquidityChange
from tokens.models.expressions import equals_any


class TickRange(NamedTuple):
    """Liquidity between two ticks of a pool."""

    tick_lower: int
    tick_upper: int
    liquidity: int


def find_tick_ranges(token_ids: Collection[int]) -> dict[int, list[TickRange]]:
    """Return token -> the ranges of its pool that have liquidity; without tokens of which no change is known."""
    changes = PoolLiquidityChange.objects.filter(equals_any("token_id", token_ids, array="bigint[]")).order_by()
    sums = changes.values_list("token_id", "tick_lower", "tick_upper").annotate(Sum("liquidity"))
    found = defaultdict(list)
    for token_id, lower, upper, liquidity in sums:
        found[token_id].append(TickRange(lower, upper, int(liquidity)))
    return found


def pool_reserves(ranges: Iterable[TickRange], price: float) -> tuple[float, float]:
    """Return the smallest units of currency 0 and currency 1 in a pool, without uncollected fees.

    `price` is in smallest units of currency 1 for one of currency 0. For a range from a to b (square roots of prices)
    with liquidity L, the amounts at p, which is at least a and at most b, are L (1/p - 1/b) and L (p - a): equations
    6.29 and 6.30 of the Uniswap v3 whitepaper, and SqrtPriceMath.getAmount0Delta and getAmount1Delta in v3 and v4.
    """
    root = math.sqrt(price)
    amount0 = amount1 = 0.0
    for lower, upper, liquidity in ranges:
        a, b = _tick_root(lower), _tick_root(upper)
        p = min(max(root, a), b)
        amount0 += liquidity * (1 / p - 1 / b)
        amount1 += liquidity * (p - a)
    return amount0, amount1


def _tick_root(tick: int) -> float:
    """Return the square root of the price at a tick."""
    return math.exp(tick * math.log(1.0001) / 2)
