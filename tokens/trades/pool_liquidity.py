"""Liquidity in pools of Uniswap, in SQL: what their ranges of ticks hold at a price, and market caps that it supports.

A launcher chooses starting price, liquidity and quote token, so that a price costs nothing. A market cap counts
where the pool can pay for a part of it (docs/market.md).
"""

import math

from tokens.models.candle import DAY

# A market cap above so many USD, or at more than so many times the starting price, needs a quote reserve of this share.
LEAST_CHECKED_CAP = 100_000
_MOST_RISE = 2
_LEAST_SHARE = 0.001

# `math.log(1.0001)` has an error of 1e-13, which is visible at large ticks.
_LOG = math.log1p(0.0001)
_HALF_LOG = _LOG / 2
# A price within this share of a range's end is at the end: the last bits of `exp` are noise, and times a large
# liquidity a reserve that no trade has paid.
_END = 2e-14


def range_reserves(root: str, tick_lower: str, tick_upper: str) -> tuple[str, str]:
    """Return the smallest units of currency 0 and currency 1 for one unit of liquidity between two ticks, as SQL.

    `root` is the square root of the price, in smallest units of currency 1 for one of currency 0. For a range from a to
    b (square roots of prices) with liquidity L, the amounts at p, which is at least a and at most b, are
    L (1/p - 1/b) and L (p - a): equations 6.29 and 6.30 of the Uniswap v3 whitepaper, and SqrtPriceMath.getAmount0Delta
    and getAmount1Delta in v3 and v4.
    """
    a, b = _tick_root(tick_lower), _tick_root(tick_upper)
    p = f"least(greatest({root}, {a}), {b})"
    at_upper, at_lower = f"{root} >= {b} * {1 - _END!r}", f"{root} <= {a} * {1 + _END!r}"
    return (
        f"(CASE WHEN {at_upper} THEN 0 ELSE 1 / {p} - 1 / {b} END)",
        f"(CASE WHEN {at_lower} THEN 0 ELSE {p} - {a} END)",
    )


def _tick_root(tick: str) -> str:
    """Return the square root of the price at a tick."""
    return f"exp({tick} * {_HALF_LOG!r}::float8)"


_AMOUNT0, _AMOUNT1 = range_reserves("root", "tick_lower", "tick_upper")

# Whether `token` is currency 0 of its present pool.
IS_CURRENCY0 = """coalesce(
    (SELECT is_currency0 FROM tokens_tokenpool AS present
        WHERE present.token_id = token.id AND present.pool_address = token.pool_address),
    lower(contract_address) COLLATE "C" < lower(paired_token) COLLATE "C"
)"""
# What traders paid for `pool`'s token less what they got, up to a day: what a bonding curve holds. Candles of former
# versions have volumes only, which are no less.
_PAID = f"""
    SELECT sum(coalesce(net_quote, volume_quote))::float8 FROM tokens_candle AS paid
    WHERE paid.token_id = pool.token_id AND paid.seconds = {DAY} AND paid.at <= pool.until
"""
# The reserves of `pool` at its price, in whole units of the quote token and without uncollected fees: of both
# currencies, and of the quote token. With the position of the last change, and whether the first one is that of the
# launch. NULL where no change is known; the quote token's is then what traders have paid. Liquidity that was removed
# leaves exactly nothing. Sums have a sequence: in another one their last bits differ, and with them a stored market.
POOL_RESERVES = f"""
    SELECT max(last_position) AS last_position, min(first_position) < (pool.block_number + 1) << 20 AS is_launch_read,
        sum(liquidity * CASE
            WHEN is_currency0 THEN {_AMOUNT0} / token_unit * price + {_AMOUNT1} / quote_unit
            ELSE {_AMOUNT1} / token_unit * price + {_AMOUNT0} / quote_unit
        END ORDER BY tick_lower, tick_upper) AS in_quote,
        coalesce(
            sum(liquidity * CASE WHEN is_currency0 THEN {_AMOUNT1} ELSE {_AMOUNT0} END / quote_unit
                ORDER BY tick_lower, tick_upper),
            ({_PAID}) / quote_unit, 0
        ) AS quote_reserve
    FROM (
        SELECT tick_lower, tick_upper, sum(liquidity)::float8 AS liquidity, max(position) AS last_position,
            min(position) AS first_position
        FROM tokens_poolliquiditychange AS change WHERE change.token_id = pool.token_id GROUP BY tick_lower, tick_upper
    ) AS tick_range
    CROSS JOIN LATERAL (
        SELECT sqrt((price * quote_unit / token_unit) ^ (CASE WHEN is_currency0 THEN 1 ELSE -1 END)) AS root
    ) AS square_root
"""
# Whether what the pool holds is known: the launch's liquidity, or all changes and trades since the launch.
IS_RESERVE_KNOWN = "(is_launch_read IS TRUE OR is_history_read)"
# Whether `full_value`, the price in USD times the supply, is a market cap; true where it is unknown. Where the reserve
# is unknown a trade has to support it. CASE, because products of small numbers would fail by underflow.
HAS_SUPPORT = f"""CASE
    WHEN full_value IS NULL THEN true
    WHEN NOT {IS_RESERVE_KNOWN} THEN full_value <= {LEAST_CHECKED_CAP} OR is_traded
    WHEN full_value <= {LEAST_CHECKED_CAP} AND coalesce(
        price <= {_MOST_RISE} * exp(starting_tick * {_LOG!r}::float8) * token_unit / quote_unit,
        is_launch_read IS NOT TRUE
    ) THEN true
    ELSE quote_reserve >= {_LEAST_SHARE} * price * (supply::float8 / token_unit)
        AND quote_depth >= {_LEAST_SHARE} * full_value
END"""
