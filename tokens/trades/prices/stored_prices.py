"""Repair of stored prices beyond pool liquidity, which versions before 0.3.0 wrote."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import connection
from django.utils import timezone

from config.postgresql.bulk_load import array_literal
from tokens.chains.pool_types import Swap, split_position
from tokens.chains.registry.chains import ChainInfo
from tokens.trades import market_rows, pool_log_rows, trade_writing
from tokens.trades.pool_prices import pool_price, price_root
from tokens.trades.pool_tokens import PoolToken, find_pool_tokens
from tokens.trades.prices.liquidity_bounds import PriceBounds, bound_prices, launch_bounds

# Trades beyond the launch's own ranges. OFFSET 0 forces an index lookup per token.
_READ_BEYOND = """
SELECT token_id, at, position, price
FROM unnest(%(tokens)s::bigint[], %(lows)s::numeric[], %(highs)s::numeric[]) AS bounds (id, low, high)
CROSS JOIN LATERAL (
    SELECT token_id, at, position, price FROM tokens_trade AS trade
    WHERE trade.token_id = bounds.id AND (price < low OR price > high) OFFSET 0
) AS beyond
ORDER BY position
"""
_SET_PRICES = """
UPDATE tokens_trade AS trade SET price = bounded.price
FROM unnest(%(tokens)s::bigint[], %(times)s::timestamptz[], %(positions)s::bigint[], %(prices)s::numeric[])
    AS bounded (token_id, at, position, price)
WHERE trade.token_id = bounded.token_id AND trade.at = bounded.at AND trade.position = bounded.position
    AND trade.at BETWEEN %(first_at)s AND %(last_at)s
"""


class _StoredPrice(NamedTuple):
    token_id: int
    at: datetime
    position: int
    price: Decimal


def repair_prices(chain: ChainInfo, pools: Sequence[str]) -> int:
    """Bound stored trade prices in these pools; return the number of changed prices.

    Daily candles and rolling sums with changed prices are computed anew, and all these pools' markets. Call it in a
    transaction that holds the chain's lock.
    """
    tokens = {token.token_id: token for token in find_pool_tokens(chain, pools).values()}
    priced = {token.pool: token for token in tokens.values() if token.quote_decimals is not None}
    changed = _repair_trades(chain, tokens, priced)
    market_rows.refresh_markets(chain, tokens)
    return changed


def _repair_trades(chain: ChainInfo, tokens: Mapping[int, PoolToken], priced: Mapping[str, PoolToken]) -> int:
    beyond = _read_beyond(priced, launch_bounds(priced))
    if not beyond:
        return 0
    swaps = [_swap(row, tokens[row.token_id]) for row in beyond]
    bounded = bound_prices(swaps, (), {pool: priced[pool] for pool in {swap.pool for swap in swaps}})
    changed = [
        row._replace(price=price)
        for row, swap in zip(beyond, bounded, strict=True)
        if (price := _price(tokens[row.token_id], swap.sqrt_price)) != row.price
    ]
    if changed:
        _store(chain.chain_id, changed)
    return len(changed)


def _read_beyond(tokens: Mapping[str, PoolToken], bounds: Mapping[str, PriceBounds]) -> list[_StoredPrice]:
    """Return the trades with prices beyond the bounds, in chain order."""
    ends = {pool: sorted(_price(tokens[pool], root) for root in both) for pool, both in bounds.items()}
    parameters: dict[str, Any] = {
        "tokens": array_literal([tokens[pool].token_id for pool in ends]),
        "lows": [low for low, _ in ends.values()],
        "highs": [high for _, high in ends.values()],
    }
    with connection.cursor() as cursor:
        cursor.execute(_READ_BEYOND, parameters)
        return [_StoredPrice(*row) for row in cursor.fetchall()]


def _swap(row: _StoredPrice, token: PoolToken) -> Swap:
    """Return a swap with only the trade's position and price."""
    root = price_root(
        row.price,
        decimals=token.decimals,
        quote_decimals=token.quote_decimals or 0,
        is_currency0=token.is_currency0,
    )
    block, index = split_position(row.position)
    return Swap(token.pool, block, int(row.at.timestamp()), "", index, 0, 0, root, "", None)


def _price(token: PoolToken, root: int) -> Decimal:
    price = pool_price(
        root,
        decimals=token.decimals,
        quote_decimals=token.quote_decimals or 0,
        is_currency0=token.is_currency0,
    )
    # Never zero: Uniswap roots are at least 2^32.
    return price or Decimal(0)


def _store(chain_id: int, rows: Sequence[_StoredPrice]) -> None:
    times = [row.at for row in rows]
    parameters: dict[str, Any] = {
        "tokens": [row.token_id for row in rows],
        "times": times,
        "positions": [row.position for row in rows],
        "prices": [row.price for row in rows],
        "first_at": min(times),
        "last_at": max(times),
    }
    with connection.cursor() as cursor:
        cursor.execute(_SET_PRICES, parameters)
    pool_log_rows.rebuild_candles([(row.token_id, row.at, row.at) for row in rows], now=timezone.now())
    trade_writing.recount_tokens(chain_id, sorted({row.token_id for row in rows}))
