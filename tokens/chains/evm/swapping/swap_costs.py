"""Fees and price impact of one swap, from the logs of its simulation. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, Literal

from tokens.chains.abi import codec
from tokens.chains.abi.codec import AbiEvent, Log
from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.swapping.routes import SwapRoute
from tokens.chains.evm.swapping.swap_quotes import SwapQuote

_V3_SWAP = codec.load_abi("uniswap_v3").event("Swap")
_V4_SWAP = codec.load_abi("uniswap_v4").event("Swap")
_SNIPER_FEE = codec.declared_event("MevModuleSetFee(bytes32 poolId, uint24 fee)")
# Uniswap counts fees in parts per million.
_MILLION = 1_000_000
# Digits after the point of a price impact.
_PRECISION = Decimal("0.000001")


@dataclass(frozen=True, kw_only=True, slots=True)
class SwapFee:
    """A fee within a quote's amounts, in smallest units of one of the swap's currencies.

    `lp` goes to the liquidity providers. `sniper` takes its place while a launch's MEV module sets a higher fee. `hook`
    goes to the pool's hook: the launchpad's share.
    """

    kind: Literal["lp", "sniper", "hook"]
    currency: str
    amount: int
    # Parts per million of what the pool receives; None for a hook's fee, whose basis is the hook's business.
    rate: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SwapCosts:
    """The fees in a swap, and its price impact: the share that the pool pays less than at its earlier price.

    The impact leaves fees out.
    """

    fees: tuple[SwapFee, ...]
    price_impact: Decimal


@dataclass(frozen=True, kw_only=True, slots=True)
class _PoolSwap:
    """A swap in the pool, with what the pool receives and pays."""

    amount_in: int
    amount_out: int
    sqrt_price: int
    # None for v3 pools.
    fee: int | None


def read_costs(
    route: SwapRoute, quote: SwapQuote, logs: Iterable[Log], *, manager: str, sqrt_price: int, fee: int
) -> SwapCosts | None:
    """Return the costs of the last swap in the route's pool; None where the logs have none.

    `manager` is the v4 PoolManager, `sqrt_price` the pool's price before the logs, `fee` the v3 pool's. Earlier swaps
    in the pool, such as a locker's conversion, change the price.
    """
    logs = list(logs)
    swaps = [swap for log in logs if (swap := _decode_swap(route, log, manager=manager))]
    if not swaps:
        return None
    swap = swaps[-1]
    rate = fee if swap.fee is None else swap.fee
    is_sniper = any(_is_sniper_fee(route, log, rate) for log in logs)
    # What the payer pays and the pool does not receive went to the hook, and so did the rest on the other side.
    hook_fees = (
        SwapFee(kind="hook", currency=currency, amount=amount, rate=None)
        for currency, amount in (
            (route.currency_in, quote.amount_in - swap.amount_in),
            (route.currency_out, swap.amount_out - quote.amount_out),
        )
        if amount > 0
    )
    lp_fee = -(-swap.amount_in * rate // _MILLION)
    return SwapCosts(
        fees=(
            SwapFee(kind="sniper" if is_sniper else "lp", currency=route.currency_in, amount=lp_fee, rate=rate),
            *hook_fees,
        ),
        price_impact=_price_impact(route, swap, rate, sqrt_price if len(swaps) == 1 else swaps[-2].sqrt_price),
    )


def _decode_swap(route: SwapRoute, log: Log, *, manager: str) -> _PoolSwap | None:
    """Return the log's swap if it is one in the route's pool: any other contract may log the same event."""
    event, emitter = (_V4_SWAP, manager) if route.pool.key else (_V3_SWAP, route.pool.pool)
    values = _decode(event, log, emitter=emitter)
    if values is None or values.get("id", route.pool.pool) != route.pool.pool:
        return None
    # The pool's receipts are positive in v3's event, and negative in v4's.
    amounts = [values["amount0"], values["amount1"]]
    if route.pool.key:
        amounts = [-amount for amount in amounts]
    amount_in, amount_out = amounts if route.zero_for_one else reversed(amounts)
    return _PoolSwap(
        amount_in=amount_in, amount_out=-amount_out, sqrt_price=values["sqrtPriceX96"], fee=values.get("fee")
    )


def _is_sniper_fee(route: SwapRoute, log: Log, rate: int) -> bool:
    hook = route.pool.key[4] if route.pool.key else ""
    values = _decode(_SNIPER_FEE, log, emitter=hook)
    return values is not None and (values["poolId"], values["fee"]) == (route.pool.pool, rate)


def _decode(event: AbiEvent, log: Log, *, emitter: str) -> dict[str, Any] | None:
    if log["topics"][:1] != [event.topic0] or log["address"].lower() != emitter.lower():
        return None
    try:
        return event.decode(log)
    except LogDecodingError:
        return None


def _price_impact(route: SwapRoute, swap: _PoolSwap, rate: int, sqrt_price: int) -> Decimal:
    price = Fraction(sqrt_price**2, 2**192) if route.zero_for_one else Fraction(2**192, sqrt_price**2 or 1)
    at_price = swap.amount_in * Fraction(_MILLION - rate, _MILLION) * price
    impact = min(max(1 - swap.amount_out / at_price, Fraction(0)), Fraction(1)) if at_price else Fraction(0)
    with localcontext(prec=50):
        return (Decimal(impact.numerator) / impact.denominator).quantize(_PRECISION)
