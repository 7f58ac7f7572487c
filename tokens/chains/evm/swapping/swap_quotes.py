"""Quotes by the chain's own quoter: Uniswap's QuoterV2 for v3 pools, V4Quoter for v4 pools. Pure.

A quoter executes the swap, hooks included, and reverts it.
Sources: github.com/Uniswap/v3-periphery, `lens/QuoterV2.sol`; github.com/Uniswap/v4-periphery, `lens/V4Quoter.sol`.
"""

from dataclasses import dataclass

from tokens.chains.abi import codec
from tokens.chains.abi.codec import AbiFunction
from tokens.chains.evm.swapping.routes import SwapRoute

_V3_RETURNS = "returns (uint256 amount, uint160 sqrtPriceX96After, uint32 initializedTicksCrossed, uint256 gasEstimate)"
_V3_INPUT = "(address tokenIn, address tokenOut, uint256 amount, uint24 fee, uint160 sqrtPriceLimitX96) params"
_V4_KEY = "(address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks) poolKey"
_V4_INPUT = f"({_V4_KEY}, bool zeroForOne, uint128 exactAmount, bytes hookData) params"
# Whether the pool is a v4 pool, and whether the amount is paid -> function.
_FUNCTIONS = {
    (is_v4, is_exact_in): codec.declared_function(
        f"quoteExact{'Input' if is_exact_in else 'Output'}Single({parameters}) {returns}"
    )
    for is_v4, parameters, returns in (
        (False, _V3_INPUT, _V3_RETURNS),
        (True, _V4_INPUT, "returns (uint256 amount, uint256 gasEstimate)"),
    )
    for is_exact_in in (False, True)
}
ALL_BPS = 10_000
# Uniswap v4 counts amounts in 128 bits with sign, which hold each number of 38 digits.
MAX_DIGITS = 38
MAX_AMOUNT = 10**MAX_DIGITS - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class SwapTerms:
    """A payer's terms: the exact amount on one side, and limits for the other side and for the time."""

    route: SwapRoute
    # Whether `amount` is what the payer pays; otherwise it is what the payer receives.
    is_exact_in: bool
    # Smallest units, 1 to MAX_AMOUNT.
    amount: int
    slippage_bps: int
    # Unix seconds.
    deadline: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SwapQuote:
    """Amounts that the payer pays and receives, and the limits for them, in smallest units."""

    amount_in: int
    amount_out: int
    most_in: int
    least_out: int


def quote_input(terms: SwapTerms, fee: int) -> str:
    """Return the quoter's calldata; `fee` is the v3 pool's, in parts per million, and 0 for v4 pools."""
    route = terms.route
    function = _function(terms)
    if route.pool.key:
        return function.encode_input((route.pool.key, route.zero_for_one, terms.amount, b""))
    # The last argument is the price limit; 0 is none.
    return function.encode_input((route.pool_in, route.pool_out, terms.amount, fee, 0))


def read_quote(terms: SwapTerms, output: str) -> SwapQuote | None:
    """Return the quote in a quoter's output, with the slippage applied, rounded in the payer's favor.

    None for another output, and for an amount that no router takes.
    """
    values = _function(terms).decode_output(output)
    if values is None or values["amount"] > MAX_AMOUNT:
        return None
    other: int = values["amount"]
    if terms.is_exact_in:
        least = -(-other * (ALL_BPS - terms.slippage_bps) // ALL_BPS)
        return SwapQuote(amount_in=terms.amount, amount_out=other, most_in=terms.amount, least_out=least)
    most = other * (ALL_BPS + terms.slippage_bps) // ALL_BPS
    return SwapQuote(amount_in=other, amount_out=terms.amount, most_in=most, least_out=terms.amount)


def _function(terms: SwapTerms) -> AbiFunction:
    return _FUNCTIONS[terms.route.pool.key is not None, terms.is_exact_in]
