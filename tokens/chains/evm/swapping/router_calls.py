"""Calldata for Uniswap's Universal Router 2.0: one swap in a v3 or v4 pool, with wrapping and refunds. Pure.

Sources: github.com/Uniswap/universal-router, `libraries/Commands.sol` and `base/Dispatcher.sol`;
github.com/Uniswap/v4-periphery, `libraries/Actions.sol`, `libraries/ActionConstants.sol`, `interfaces/IV4Router.sol`.
Release 2.1.1 has other structs for v4 swaps.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.addresses import ZERO_ADDRESS
from tokens.chains.evm.swapping.routes import POOL_KEY_TYPES, SwapContracts, SwapRoute
from tokens.chains.evm.swapping.swap_quotes import SwapQuote, SwapTerms
from tokens.chains.evm.unsigned_calls import UnsignedCall

_EXECUTE = codec.declared_call("execute(bytes commands, bytes[] inputs, uint256 deadline)")

# Recipients that the router replaces: its caller, and itself.
_CALLER = "0x" + "00" * 19 + "01"
_ROUTER = "0x" + "00" * 19 + "02"
# The whole debt or credit in the PoolManager.
_OPEN_DELTA = 0
_SWAP_STRUCT = (f"(({','.join(POOL_KEY_TYPES)}),bool,uint128,uint128,bytes)",)


class _Command(IntEnum):
    V3_SWAP_EXACT_IN = 0x00
    V3_SWAP_EXACT_OUT = 0x01
    SWEEP = 0x04
    WRAP_ETH = 0x0B
    UNWRAP_WETH = 0x0C
    V4_SWAP = 0x10


class _Action(IntEnum):
    SWAP_EXACT_IN_SINGLE = 0x06
    SWAP_EXACT_OUT_SINGLE = 0x08
    SETTLE = 0x0B
    SETTLE_ALL = 0x0C
    TAKE = 0x0E
    TAKE_ALL = 0x0F


# A command or action, with its encoded input.
_Step = tuple[int, bytes]


def swap_call(terms: SwapTerms, quote: SwapQuote, contracts: SwapContracts, *, fee: int) -> UnsignedCall:
    """Return the router's call, which pays and receives within the quote's limits, or reverts.

    `fee` as in `quote_input`. Native coins that the swap leaves over are refunded in the same call.
    """
    route = terms.route
    steps: list[_Step] = []
    if route.wraps:
        steps.append(_step(_Command.WRAP_ETH, ("address", "uint256"), _ROUTER, quote.most_in))
    steps.append(_v4_swap(terms, quote) if route.pool.key else _v3_swap(terms, quote, fee))
    if route.unwraps:
        steps.append(_step(_Command.UNWRAP_WETH, ("address", "uint256"), _CALLER, quote.least_out))
    steps += _refund(route)
    commands, inputs = _join(steps)
    return UnsignedCall(
        to=contracts.router,
        data=_EXECUTE.encode_input(commands, inputs, terms.deadline),
        value=quote.most_in if route.pays_native else 0,
        text=_describe(terms, quote),
    )


def _refund(route: SwapRoute) -> list[_Step]:
    """Return the step that returns native coins: an exact output takes less than the limit, a drained pool less yet."""
    if route.wraps:
        return [_step(_Command.UNWRAP_WETH, ("address", "uint256"), _CALLER, 0)]
    if route.pays_native:
        return [_step(_Command.SWEEP, ("address", "address", "uint256"), ZERO_ADDRESS, _CALLER, 0)]
    return []


def _v3_swap(terms: SwapTerms, quote: SwapQuote, fee: int) -> _Step:
    route = terms.route
    first, last = (route.pool_in, route.pool_out) if terms.is_exact_in else (route.pool_out, route.pool_in)
    # Packed: token, fee in three bytes, token; from the exact amount's side.
    path = bytes.fromhex(first[2:]) + fee.to_bytes(3) + bytes.fromhex(last[2:])
    recipient = _ROUTER if route.unwraps else _CALLER
    amounts = (quote.amount_in, quote.least_out) if terms.is_exact_in else (quote.amount_out, quote.most_in)
    command = _Command.V3_SWAP_EXACT_IN if terms.is_exact_in else _Command.V3_SWAP_EXACT_OUT
    # The last value is whether the caller pays, through Permit2; otherwise the router pays.
    types = ("address", "uint256", "uint256", "bytes", "bool")
    return _step(command, types, recipient, *amounts, path, not route.wraps)


def _v4_swap(terms: SwapTerms, quote: SwapQuote) -> _Step:
    route = terms.route
    amounts = (quote.amount_in, quote.least_out) if terms.is_exact_in else (quote.amount_out, quote.most_in)
    swap = (route.pool.key, route.zero_for_one, *amounts, b"")
    action = _Action.SWAP_EXACT_IN_SINGLE if terms.is_exact_in else _Action.SWAP_EXACT_OUT_SINGLE
    # TAKE_ALL has a limit because release 2.0 accepts an exact output that the pool fills partly.
    steps = (_step(action, _SWAP_STRUCT, swap), _settle(route, quote), _take(route, quote))
    return _step(_Command.V4_SWAP, ("bytes", "bytes[]"), *_join(steps))


def _settle(route: SwapRoute, quote: SwapQuote) -> _Step:
    if route.pays_native:
        return _step(_Action.SETTLE, ("address", "uint256", "bool"), route.pool_in, _OPEN_DELTA, False)
    return _step(_Action.SETTLE_ALL, ("address", "uint256"), route.pool_in, quote.most_in)


def _take(route: SwapRoute, quote: SwapQuote) -> _Step:
    if route.unwraps:
        return _step(_Action.TAKE, ("address", "address", "uint256"), route.pool_out, _ROUTER, _OPEN_DELTA)
    return _step(_Action.TAKE_ALL, ("address", "uint256"), route.pool_out, quote.least_out)


def _step(code: int, types: Sequence[str], *values: Any) -> _Step:
    return code, codec.encode_values(types, values)


def _join(steps: Sequence[_Step]) -> tuple[bytes, list[bytes]]:
    return bytes(code for code, _ in steps), [step_input for _, step_input in steps]


def _describe(terms: SwapTerms, quote: SwapQuote) -> str:
    paid, received = (_amount(amount, currency) for amount, currency in (
        (quote.most_in, terms.route.currency_in), (quote.least_out, terms.route.currency_out)))  # fmt: skip
    if terms.is_exact_in:
        return f"Swap exactly {paid} for at least {received} through Uniswap's Universal Router."
    return f"Swap at most {paid} for exactly {received} through Uniswap's Universal Router."


def _amount(amount: int, currency: str) -> str:
    return f"{amount} wei" if currency == ZERO_ADDRESS else f"{amount} smallest units of {currency}"
