"""Amounts that traders paid and got: swap amounts, and the launchpad's fee beside them. Pure.

A launch's hook takes a fifth of the liquidity fee, in the quote token: before the swap from the specified amount, or
after it from the resulting amount. Its logs have the amounts. Source: ClankerHook in v4.0 and ClankerHookV2 in v4.1.
"""

from collections.abc import Iterable, Sequence

from tokens.chains.pool_types import HookFee, Swap
from tokens.trades.pool_tokens import PoolToken

_MILLION, _SCALE = 10**6, 10**18
# The liquidity fee, divided by this, is the launchpad's fee.
_PROTOCOL_SHARE = 5


def paid_quote(amount_quote: int, protocol_fee: int | None, *, is_buy: bool) -> int:
    """Return what the trader paid in a purchase, or got in a sale, in the quote token's smallest unit.

    `amount_quote` is what the pool got or paid. Without a known `protocol_fee`, both are equal.
    """
    if protocol_fee is None:
        return amount_quote
    return amount_quote + protocol_fee if is_buy else amount_quote - protocol_fee


def paid_token(amount_token: int, token_fee: int | None, *, is_buy: bool) -> int:
    """Return what the trader got in a purchase, or sold, in the token's smallest unit, as `paid_quote`."""
    return paid_quote(amount_token, token_fee, is_buy=not is_buy)


def total_fee(lp_fee: float) -> float:
    """Return a trade's whole fee in a pool with a hook, in the unit of the liquidity fee."""
    return lp_fee + lp_fee / _PROTOCOL_SHARE


def find_fees(swap: Swap, token: PoolToken, *, amount_quote: int, is_buy: bool) -> tuple[int | None, int | None]:
    """Return the fees beside a swap, in the quote token and in the launched token; None if no log proves one.

    A declared launchpad reports both fees. They are ignored if nothing would be left for the trader.
    """
    if swap.reported_fees is None:
        hook = token.hook or ""
        return _find_protocol_fee(swap, hook, token.quote, amount_quote=amount_quote, is_buy=is_buy), None
    sides = (swap.amount0, swap.reported_fees[0]), (swap.amount1, swap.reported_fees[1])
    (amount_token, token_fee), (_, protocol_fee) = sides if token.is_currency0 else sides[::-1]
    has_rest = token_fee < abs(amount_token) if is_buy else protocol_fee < amount_quote
    return (protocol_fee, token_fee) if has_rest else (None, None)


def _find_protocol_fee(swap: Swap, hook: str, quote: str, *, amount_quote: int, is_buy: bool) -> int | None:
    """Return the fee that a hook took beside a swap, in the quote token's smallest unit; None if no log proves it.

    A single fee between the neighbouring swaps belongs to this one. If there are several, the right amount decides.
    """
    before, after = _own(swap.fees_before, hook, quote), _own(swap.fees_after, hook, quote)
    if len(before) + len(after) == 1:
        return (before or after)[0]
    share = (swap.fee or 0) // _PROTOCOL_SHARE
    sides = [_taken_before(before, share, amount_quote, is_buy=is_buy), _taken_after(after, share, amount_quote)]
    # Most swaps specify the paid amount: in a purchase, the quote token.
    ordered = sides if is_buy else sides[::-1]
    return next((fee for fee in ordered if fee is not None), None)


def _own(fees: Iterable[HookFee], hook: str, quote: str) -> list[int]:
    return [fee.amount for fee in fees if fee.hook == hook and fee.currency == quote]


def _taken_before(fees: Sequence[int], share: int, amount_quote: int, *, is_buy: bool) -> int | None:
    """Return the last fee, if taking it from a specified quote amount leads to this swap's amount."""
    for fee in fees[-1:]:
        specified = amount_quote + fee if is_buy else amount_quote - fee
        scaled = share * _SCALE // (_MILLION + share if is_buy else _MILLION - share)
        if specified * scaled // _SCALE == fee:
            return fee
    return None


def _taken_after(fees: Sequence[int], share: int, amount_quote: int) -> int | None:
    """Return the first fee, if it is the share of this resulting amount."""
    return next((fee for fee in fees[:1] if amount_quote * share // _MILLION == fee), None)
