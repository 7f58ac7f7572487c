"""Allowances for the Universal Router, which takes ERC-20 payments through Permit2. Pure.

The payer's calls approve; no signature of a permit is needed. Source: github.com/Uniswap/permit2,
`AllowanceTransfer.sol`.
"""

from collections.abc import Sequence

from tokens.chains.abi import codec
from tokens.chains.evm.swapping.routes import SwapContracts
from tokens.chains.evm.swapping.swap_quotes import SwapQuote, SwapTerms
from tokens.chains.evm.unsigned_calls import UnsignedCall

_TOKEN_ALLOWANCE = codec.declared_function("allowance(address owner, address spender) returns (uint256 amount)")
_TOKEN_APPROVE = codec.declared_call("approve(address spender, uint256 amount)")
_PERMIT2_ALLOWANCE = codec.declared_function(
    "allowance(address owner, address token, address spender) returns (uint160 amount, uint48 expiration, uint48 nonce)"
)
_PERMIT2_APPROVE = codec.declared_call("approve(address token, address spender, uint160 amount, uint48 expiration)")


def allowance_inputs(terms: SwapTerms, contracts: SwapContracts, *, payer: str) -> list[tuple[str, str]]:
    """Return contract and calldata of the views that `approval_calls` reads; none for payments in the native coin.

    The first is what Permit2 may take from the payer, the second what the router may take through Permit2.
    """
    currency = terms.route.currency_in
    if terms.route.pays_native:
        return []
    return [
        (currency, _TOKEN_ALLOWANCE.encode_input(payer, contracts.permit2)),
        (contracts.permit2, _PERMIT2_ALLOWANCE.encode_input(payer, currency, contracts.router)),
    ]


def approval_calls(
    terms: SwapTerms, quote: SwapQuote, contracts: SwapContracts, outputs: Sequence[str]
) -> list[UnsignedCall]:
    """Return the approvals that the payer lacks, from the outputs of `allowance_inputs`.

    Each approves what the swap takes at most; Permit2's also ends with the swap's deadline.
    """
    if terms.route.pays_native:
        return []
    of_token, of_permit2 = (
        function.decode_output(output)
        for function, output in zip((_TOKEN_ALLOWANCE, _PERMIT2_ALLOWANCE), outputs, strict=True)
    )
    currency, amount = terms.route.currency_in, quote.most_in
    calls: list[UnsignedCall] = []
    if of_token is None or of_token["amount"] < amount:
        calls.append(
            UnsignedCall(
                to=currency,
                data=_TOKEN_APPROVE.encode_input(contracts.permit2, amount),
                value=0,
                text=f"Allow Permit2 to take {amount} smallest units of {currency}.",
            )
        )
    if of_permit2 is None or of_permit2["amount"] < amount or of_permit2["expiration"] < terms.deadline:
        calls.append(
            UnsignedCall(
                to=contracts.permit2,
                data=_PERMIT2_APPROVE.encode_input(currency, contracts.router, amount, terms.deadline),
                value=0,
                text=f"Allow the Universal Router to take {amount} smallest units of {currency} through Permit2 "
                "until the swap's deadline.",
            )
        )
    return calls
