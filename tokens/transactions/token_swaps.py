"""Swaps of a launched token in its own pool: the fields of a body, and the offer for it."""

import time
from typing import Any

from config.parsing.json_rules import FieldRule, InvalidFieldsError, choice, whole_number
from tokens.chains.addresses import ZERO_ADDRESS
from tokens.chains.evm.swapping.routes import describe_pool, find_route
from tokens.chains.evm.swapping.swap_offers import SwapOffer
from tokens.chains.evm.swapping.swap_quotes import ALL_BPS, MAX_DIGITS, SwapTerms
from tokens.installation.installed_chains import installed_chain
from tokens.transactions import action_fields
from tokens.transactions.call_building import Values, WalletAction, find_token

SWAP = "swap"

SWAP_FIELDS = {
    **action_fields.TOKEN_ADDRESS,
    "side": FieldRule(rule=choice("buy", "sell"), description="Whether `from` buys or sells the token."),
    "exact": FieldRule(
        rule=choice("in", "out"), default="in", description="Whether `amount` is paid (`in`) or received (`out`)."
    ),
    "amount": FieldRule(
        rule=action_fields.wei(least=1, digits=MAX_DIGITS), description="The exact amount in smallest units, as digits."
    ),
    "currency": FieldRule(
        rule=choice("native", "paired"),
        default=None,
        description="What a buyer pays and a seller gets: the native coin, or the pool's ERC-20. Default: the native"
        " coin if the pool holds it or its wrapped form.",
    ),
    "slippageBps": FieldRule(
        rule=whole_number(least=0, most=ALL_BPS // 2, unit="bps"),
        default=100,
        description="How far the other amount may move before the swap reverts.",
    ),
    "deadlineSeconds": FieldRule(
        rule=whole_number(least=10, most=86_400, unit="seconds"),
        default=600,
        description="The swap reverts after this time from now, and its approvals end.",
    ),
}


def swap_offer(action: WalletAction, values: Values) -> SwapOffer:
    """Return the offer for a body's swap, with its simulation.

    Raises UnknownTokenError, UnsupportedChainError, InvalidFieldsError, SwapUnavailableError, UnknownContractError,
    CallWouldRevertError, SenderBalanceTooLowError, NodeUnavailableError.
    """
    token = find_token(values["chain_id"], values["token"])
    chain = installed_chain(values["chain_id"])
    wrapped_native = chain.info.wrapped_native
    if not (token.pool_address and token.paired_token):
        raise InvalidFieldsError([("tokenAddress", "must be a token with a pool")])
    config: dict[str, Any] = token.pool_config
    pool = describe_pool(
        token.pool_address,
        token=token.contract_address,
        paired=token.paired_token,
        tick_spacing=config.get("tickSpacing"),
        hook=config.get("hook"),
        wrapped_native=wrapped_native,
    )
    holds_coin = bool({ZERO_ADDRESS, wrapped_native} & set(pool.currencies))
    route = find_route(
        pool,
        token=token.contract_address,
        is_purchase=values["side"] == "buy",
        is_native=holds_coin if values["currency"] is None else values["currency"] == "native",
        wrapped_native=wrapped_native,
    )
    terms = SwapTerms(
        route=route,
        is_exact_in=values["exact"] == "in",
        amount=values["amount"],
        slippage_bps=values["slippageBps"],
        deadline=int(time.time()) + values["deadlineSeconds"],
    )
    return chain.offer_swap(terms, payer=values["sender"])
