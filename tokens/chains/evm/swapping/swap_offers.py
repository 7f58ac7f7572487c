"""Swap offers: a quote, the calls that keep it, and the proof that exactly these calls do what it states.

Quote, allowances and calls are simulated in one block: the next one. In a launch's first seconds fees fall with each
second, so that two blocks would have two quotes.
"""

from dataclasses import dataclass

from tokens.chains.abi import codec
from tokens.chains.errors import CallWouldRevertError, SwapUnavailableError, UnknownContractError
from tokens.chains.evm.eth_calls import ViewCall, call_views
from tokens.chains.evm.swapping.allowances import allowance_inputs, approval_calls
from tokens.chains.evm.swapping.router_calls import swap_call
from tokens.chains.evm.swapping.routes import SwapRoute, find_contracts
from tokens.chains.evm.swapping.swap_costs import SwapCosts, read_costs
from tokens.chains.evm.swapping.swap_quotes import SwapQuote, SwapTerms, quote_input, read_quote
from tokens.chains.evm.transactions.call_simulation import SimulatedCalls, simulate_calls
from tokens.chains.evm.unsigned_calls import UnsignedCall
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import RpcClient

_V3_FEE = codec.declared_function("fee() returns (uint24 fee)")
# The first values are the same in both; the later ones differ.
_V3_PRICE = codec.declared_function("slot0() returns (uint160 sqrtPriceX96, int24 tick)")
_V4_PRICE = codec.declared_function("getSlot0(bytes32 poolId) returns (uint160 sqrtPriceX96, int24 tick)")
# Parts per million. Source: github.com/Uniswap/v3-core, `UniswapV3Factory.enableFeeAmount`.
_MAX_FEE = 999_999
# The v4 quoter's error. Source: github.com/Uniswap/v4-periphery, `BaseV4Quoter.sol`.
_NOT_ENOUGH = "NotEnoughLiquidity("
_TOO_LITTLE_LIQUIDITY = "the pool has too little liquidity for the amount"


@dataclass(frozen=True, kw_only=True, slots=True)
class SwapOffer:
    """A swap that the payer may sign: `calls` in sequence, and the simulation of these very calls."""

    terms: SwapTerms
    quote: SwapQuote
    costs: SwapCosts
    calls: tuple[UnsignedCall, ...]
    simulation: SimulatedCalls


def offer_swap(rpc: RpcClient, info: ChainInfo, terms: SwapTerms, *, payer: str) -> SwapOffer:
    """Implement `Chain.offer_swap`."""
    contracts = find_contracts(info, terms.route.pool)
    fee = 0 if terms.route.pool.key else _read_v3_fee(rpc, terms.route)
    quoter = _view(contracts.quoter, quote_input(terms, fee))
    state = [
        _price_view(info, terms.route),
        *(_view(*each) for each in allowance_inputs(terms, contracts, payer=payer)),
    ]
    first = _simulate_quote(rpc, [quoter, *state], payer=payer)
    quote = _require_quote(terms, first.calls[0].output)
    calls = (
        *approval_calls(terms, quote, contracts, [call.output for call in first.calls[2:]]),
        swap_call(terms, quote, contracts, fee=fee),
    )
    simulation = simulate_calls(rpc, calls, sender=payer, beside=first)
    _require_equal(terms.route, quote, simulation)
    price = (_V4_PRICE if terms.route.pool.key else _V3_PRICE).decode_output(first.calls[1].output)
    costs = price and read_costs(
        terms.route,
        quote,
        simulation.calls[-1].logs,
        manager=info.v4_pool_manager or "",
        sqrt_price=price["sqrtPriceX96"],
        fee=fee,
    )
    if not costs:
        raise SwapUnavailableError("the token's pool reports no swap")
    return SwapOffer(terms=terms, quote=quote, costs=costs, calls=calls, simulation=simulation)


def _read_v3_fee(rpc: RpcClient, route: SwapRoute) -> int:
    [result] = call_views(rpc, [ViewCall(contract=route.pool.pool, function=_V3_FEE)])
    fee: int = result["fee"] if result else _MAX_FEE + 1
    if fee > _MAX_FEE:
        raise SwapUnavailableError("the token trades in no pool of Uniswap v3 or v4")
    return fee


def _view(contract: str, data: str) -> UnsignedCall:
    return UnsignedCall(to=contract, data=data, value=0, text="")


def _price_view(info: ChainInfo, route: SwapRoute) -> UnsignedCall:
    if route.pool.key is None:
        return _view(route.pool.pool, _V3_PRICE.encode_input())
    if info.v4_state_view is None:
        raise UnknownContractError("v4_state_view")
    return _view(info.v4_state_view, _V4_PRICE.encode_input(bytes.fromhex(route.pool.pool[2:])))


def _simulate_quote(rpc: RpcClient, views: list[UnsignedCall], *, payer: str) -> SimulatedCalls:
    try:
        return simulate_calls(rpc, views, sender=payer)
    except CallWouldRevertError as error:
        if _NOT_ENOUGH in error.reason:
            raise SwapUnavailableError(_TOO_LITTLE_LIQUIDITY) from error
        raise SwapUnavailableError(f"the pool can't be quoted: {error.reason}") from error


def _require_quote(terms: SwapTerms, output: str) -> SwapQuote:
    quote = read_quote(terms, output)
    if quote is None:
        raise SwapUnavailableError("the pool can't be quoted")
    if not (quote.amount_in and quote.amount_out):
        raise SwapUnavailableError("the amount is too small: the other side would be 0")
    return quote


def _require_equal(route: SwapRoute, quote: SwapQuote, simulation: SimulatedCalls) -> None:
    """Refuse a swap whose simulation differs from the quote by one unit.

    QuoterV2 quotes an exact input that the pool takes partly; tokens may take a fee on transfers.
    """
    changes = {route.currency_in: -quote.amount_in, route.currency_out: quote.amount_out}
    if dict(simulation.changes) == changes:
        return
    paid = -simulation.changes.get(route.currency_in, 0)
    if paid < quote.amount_in:
        raise SwapUnavailableError(_TOO_LITTLE_LIQUIDITY)
    raise SwapUnavailableError("the simulation of the calls differs from the quote")
