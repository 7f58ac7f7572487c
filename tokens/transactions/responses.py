"""The transaction endpoints' response."""

from typing import Annotated, Literal, TypedDict

from config.parsing.response_types import Keywords
from tokens.chains.addresses import Address
from tokens.chains.evm.swapping.swap_offers import SwapOffer
from tokens.chains.evm.transactions.dry_run import MAX_GAS
from tokens.transactions.preparing import PreparedTransaction

_VERSION = "2.0.0"

_Digits = Annotated[str, Keywords(pattern="^[0-9]+$")]
_Hex = Annotated[str, Keywords(pattern="^0x([0-9a-f]{2})*$")]
_Quantity = Annotated[str, Keywords(pattern="^0x(0|[1-9a-f][0-9a-f]*)$")]


class WalletCall(TypedDict):
    """One call in a wallet's batch."""

    to: Address
    data: _Hex
    value: Annotated[_Quantity, "Wei in hex."]


# A Python keyword.
_From = TypedDict("_From", {"from": Address})


class WalletSendCalls(_From):
    """Parameter for `wallet_sendCalls` (EIP-5792)."""

    version: Annotated[str, Keywords(const=_VERSION)]
    chainId: Annotated[_Quantity, "In hex."]
    atomicRequired: Annotated[bool, "False: each call is useful by itself; the sequence matters."]
    calls: list[WalletCall]


class SimulatedCallJson(TypedDict):
    """Gas for a call."""

    gasUsed: Annotated[int, "Gas in the simulation, after refunds."]
    gas: Annotated[int, "Gas limit for the transaction, half above it."]


class CurrencyChange(TypedDict):
    """What `from` gains or loses in a currency."""

    currency: Annotated[Address, "Zero address: the native coin."]
    amount: Annotated[str, Keywords(pattern="^-?[0-9]+$"), "Smallest units; negative if `from` pays."]


class CallsSimulation(TypedDict):
    """What the calls do, one after another, on top of the newest block."""

    blockNumber: Annotated[int, "The newest block."]
    time: Annotated[int, "Time of the simulated next block in Unix seconds: unlocked amounts are as of then."]
    calls: list[SimulatedCallJson]
    changes: Annotated[
        list[CurrencyChange], "Sum of the transfers that the contracts log, without the costs of gas. Empty if none."
    ]


class PreparedTransactionJson(TypedDict):
    """Calls for the wallet `from`, which are simulated and neither signed nor stored."""

    data: WalletSendCalls
    texts: Annotated[list[str], "A sentence for each call: what it does."]
    simulation: CallsSimulation
    predictedAddress: Annotated[Address | None, "Address of the token that the calls create; null if they create none."]
    validUntil: Annotated[int, "Unix seconds. Request the calls anew after it: the chain may have changed."]


class SwapFeeJson(TypedDict):
    """A fee within the quote's amounts."""

    kind: Annotated[
        Literal["lp", "sniper", "hook"],
        "`lp`: for the liquidity. `sniper`: in its place while the launch's MEV module sets more. `hook`: for the"
        " launchpad.",
    ]
    currency: Annotated[Address, "Zero address: the native coin."]
    amount: Annotated[_Digits, "Smallest units."]
    rate: Annotated[int | None, "Parts per million of what the pool receives; null for a hook's fee."]


class SwapQuoteJson(TypedDict):
    """Quote, its limits, and the swap's costs."""

    currencyIn: Annotated[Address, "What `from` pays; zero address: the native coin."]
    currencyOut: Annotated[Address, "What `from` receives."]
    amountIn: Annotated[_Digits, "Smallest units, with all fees."]
    amountOut: Annotated[_Digits, "Smallest units, after all fees."]
    mostIn: Annotated[_Digits, "The swap reverts rather than taking more."]
    leastOut: Annotated[_Digits, "The swap reverts rather than paying less."]
    deadline: Annotated[int, "Unix seconds; the swap reverts after it."]
    priceImpact: Annotated[
        float, "Share that the pool pays less than at its price before the swap, fees aside: 0.01 is one percent."
    ]
    fees: list[SwapFeeJson]


class PreparedSwapJson(PreparedTransactionJson):
    """Calls that approve and swap, and their quote."""

    swap: SwapQuoteJson


def swap_body(transaction: PreparedTransaction, offer: SwapOffer) -> PreparedSwapJson:
    """Return the response body for a swap."""
    route, quote = offer.terms.route, offer.quote
    return {
        **transaction_body(transaction),
        "swap": {
            "currencyIn": route.currency_in,
            "currencyOut": route.currency_out,
            "amountIn": str(quote.amount_in),
            "amountOut": str(quote.amount_out),
            "mostIn": str(quote.most_in),
            "leastOut": str(quote.least_out),
            "deadline": offer.terms.deadline,
            "priceImpact": float(offer.costs.price_impact),
            "fees": [
                {"kind": fee.kind, "currency": fee.currency, "amount": str(fee.amount), "rate": fee.rate}
                for fee in offer.costs.fees
            ],
        },
    }


def transaction_body(transaction: PreparedTransaction) -> PreparedTransactionJson:
    """Return the response body."""
    simulation = transaction.simulation
    return {
        "data": {
            "version": _VERSION,
            "from": transaction.sender,
            "chainId": hex(transaction.chain_id),
            "atomicRequired": False,
            "calls": [{"to": call.to, "data": call.data, "value": hex(call.value)} for call in transaction.calls],
        },
        "texts": [call.text for call in transaction.calls],
        "simulation": {
            "blockNumber": simulation.block_number,
            "time": simulation.time,
            "calls": [{"gasUsed": call.gas_used, "gas": _gas_limit(call.gas_used)} for call in simulation.calls],
            "changes": [
                {"currency": currency, "amount": str(amount)} for currency, amount in simulation.changes.items()
            ],
        },
        "predictedAddress": transaction.predicted_address,
        "validUntil": transaction.valid_until,
    }


def _gas_limit(gas_used: int) -> int:
    # The EVM refunds up to a fifth of the gas, which a limit has to include; the rest is reserve.
    return min(gas_used * 3 // 2, MAX_GAS)
