"""What traders paid and got: the amounts of swaps, and the launchpad's fee beside them. Pure.

A launch's hook takes a fifth of the liquidity fee, in the quote token, from what is specified before the swap, or from
what the swap results in. Its logs have the amounts. Source: ClankerHook of v4.0 and ClankerHookV2 of v4.1.
"""

from collections.abc import Iterable, Sequence

from tokens.chains.pool_types import HookFee, Swap
from tokens.trades.pool_tokens import PoolToken

_MILLION, _SCALE = 10**6, 10**18
# The launchpad's fee is this part of the fee of liquidity providers.
_PROTOCOL_SHARE = 5


def paid_quote(amount_quote: int, protocol_fee: int | None, *, is_buy: bool) -> int:
    """Return what the trader paid in a purchase, or got in a sale, in the quote token's smallest unit.

    `amount_quote` is what the pool got or paid. Without a known `protocol_fee` the trader's amount is the pool's.
    """
    if protocol_fee is None:
        return amount_quote
    return amount_quote + protocol_fee if is_buy else amount_quote - protocol_fee


def paid_token(amount_token: int, token_fee: int | None, *, is_buy: bool) -> int:
    """Return what the trader got in a purchase, or sold, in the token's smallest unit, as `paid_quote`."""
    return paid_quote(amount_token, token_fee, is_buy=not is_buy)


def total_fee(lp_fee: float) -> float:
    """Return what a trade in a pool with a hook costs, of the fee of liquidity providers and in its unit."""
    return lp_fee + lp_fee / _PROTOCOL_SHARE


def find_fees(swap: Swap, token: PoolToken, *, amount_quote: int, is_buy: bool) -> tuple[int | None, int | None]:
    """Return the fees beside a swap, of the quote token and of the launched token; None where no log proves one.

    Of a declared launchpad they are what it reports, unless nothing would be left of what the trader got.
    """
    if swap.reported_fees is None:
        hook = token.hook or ""
        return _find_protocol_fee(swap, hook, token.quote, amount_quote=amount_quote, is_buy=is_buy), None
    sides = (swap.amount0, swap.reported_fees[0]), (swap.amount1, swap.reported_fees[1])
    (amount_token, token_fee), (_, protocol_fee) = sides if token.is_currency0 else sides[::-1]
    has_rest = token_fee < abs(amount_token) if is_buy else protocol_fee < amount_quote
    return (protocol_fee, token_fee) if has_rest else (None, None)


def _find_protocol_fee(swap: Swap, hook: str, quote: str, *, amount_quote: int, is_buy: bool) -> int | None:
    """Return the fee that a hook took beside a swap, in the quote token's smallest unit; None where no log proves it.

    A single fee between the swaps around this one is its own. Of several, it is the one with the right amount.
    """
    before, after = _own(swap.fees_before, hook, quote), _own(swap.fees_after, hook, quote)
    if len(before) + len(after) == 1:
        return (before or after)[0]
    share = (swap.fee or 0) // _PROTOCOL_SHARE
    sides = [_taken_before(before, share, amount_quote, is_buy=is_buy), _taken_after(after, share, amount_quote)]
    # Most swaps specify what is paid: the quote token in a purchase.
    ordered = sides if is_buy else sides[::-1]
    return next((fee for fee in ordered if fee is not None), None)


def _own(fees: Iterable[HookFee], hook: str, quote: str) -> list[int]:
    return [fee.amount for fee in fees if fee.hook == hook and fee.currency == quote]


def _taken_before(fees: Sequence[int], share: int, amount_quote: int, *, is_buy: bool) -> int | None:
    """Return the last fee, if it is of a specified amount of the quote token, with which the swap had this amount."""
    for fee in fees[-1:]:
        specified = amount_quote + fee if is_buy else amount_quote - fee
        scaled = share * _SCALE // (_MILLION + share if is_buy else _MILLION - share)
        if specified * scaled // _SCALE == fee:
            return fee
    return None


def _taken_after(fees: Sequence[int], share: int, amount_quote: int) -> int | None:
    """Return the first fee, if it is of this result of the swap."""
    return next((fee for fee in fees[:1] if amount_quote * share // _MILLION == fee), None)
