"""Decoder from declared bonding curve trades to swaps. Pure."""

from collections.abc import Mapping
from math import isqrt
from typing import Any

from tokens.chains.abi.codec import Log
from tokens.chains.abi.paths import Path, part_at
from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.logs.log_places import LogPlace
from tokens.chains.pool_types import Swap
from tokens.chains.registry.launchpads import CurvePrice, CurveTrade

# Smaller amounts are rounded by more than 0.01 %: their average is no price.
_LEAST_AVERAGED = 10_000
# Twice the binary digits after the point in `Swap.sqrt_price`.
_SHIFT = 192
# Exclusive limits by the types in v4's `Swap`: int128 and uint160.
AMOUNT_LIMIT, _ROOT_LIMIT = 1 << 127, 1 << 160


def read_curve_trade(log: Log, trade: CurveTrade, log_place: LogPlace) -> Swap:
    """Decode a trade: the launched token is currency 0, whatever its address. Raises LogDecodingError.

    The emitter is the pool where no argument names the token.
    """
    values = trade.event.decode(log)
    amount0 = _amount(values, trade.token_in) - _amount(values, trade.token_out)
    amount1 = _amount(values, trade.quote_in) - _amount(values, trade.quote_out)
    if trade.is_buy and not part_at(values, trade.is_buy):
        amount0, amount1 = -amount0, -amount1
    return Swap(
        part_at(values, trade.token) if trade.token else log_place.emitter,
        *log_place[1:5],
        amount0,
        amount1,
        _root(*_price(values, trade.price, amount0, amount1)),
        log_place.emitter,
        part_at(values, trade.trader) if trade.trader else log_place.trader,
        log_place.tx_index,
        reported_fees=(0, _amount(values, trade.fee)) if trade.fee else None,
        launchpad=trade.launchpad,
    )


def bounded_amount(amount: int) -> int:
    """Return the amount if it fits v4's int128. Raises LogDecodingError for any other.

    No token has more, and sums over larger amounts would exceed their columns.
    """
    if not -AMOUNT_LIMIT <= amount < AMOUNT_LIMIT:
        raise LogDecodingError("an amount out of range")
    return amount


def _amount(values: Mapping[str, Any], path: Path | None) -> int:
    return bounded_amount(part_at(values, path)) if path else 0


def _price(values: Mapping[str, Any], price: CurvePrice | None, amount0: int, amount1: int) -> tuple[int, int]:
    """Return a price as two amounts in smallest units, quote and launched token; (0, 0) where there is no price."""
    if price is None:
        average = abs(amount1), abs(amount0)
        return average if min(average) >= _LEAST_AVERAGED else (0, 0)
    return part_at(values, price.quote), part_at(values, price.token) if price.token else 10**price.decimals


def _root(quote: int, token: int) -> int:
    """Return `Swap.sqrt_price`; 0, which is no price, if either amount is 0. Raises LogDecodingError."""
    root = isqrt((quote << _SHIFT) // token) if token else 0
    if root >= _ROOT_LIMIT:
        raise LogDecodingError("a price out of range")
    return root
