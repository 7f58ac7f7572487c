"""Gas limit and EIP-1559 gas price for the service's transactions, within the operator's cap. All prices in wei."""

from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings

from config.http.errors import RetryableError
from tokens.chains.transaction_types import FeeQuote

WEI_PER_GWEI = 10**9

# Nodes accept a replacement transaction with the same nonce if both fees are 10 % higher; some require 12.5 %.
_RAISED_BY_EIGHTHS = 9


class FeeCapExceededError(RetryableError):
    """Raised when the chain's gas price is above the operator's cap; `cap` is in wei."""

    def __init__(self, cap: int) -> None:
        super().__init__(f"the chain wants more for a gas than the cap of {Decimal(cap) / WEI_PER_GWEI} gwei")
        self.cap = cap


@dataclass(frozen=True, kw_only=True, slots=True)
class GasFees:
    """Maximum fee and priority fee per gas in an EIP-1559 transaction."""

    max_fee: int
    priority_fee: int


def max_fee_cap(chain_id: int) -> int:
    """Return the operator's cap on a chain's gas price."""
    gwei: Decimal = settings.DEPLOY_MAX_FEES_GWEI.get(chain_id, settings.DEPLOY_MAX_FEE_GWEI)
    return int(gwei * WEI_PER_GWEI)


def initial_fees(chain_id: int, quote: FeeQuote) -> GasFees:
    """Return a new transaction's fees: the tip, and twice the base fee, which may double until it is mined.

    Raises FeeCapExceededError if the base fee is above the cap.
    """
    limit = max_fee_cap(chain_id)
    if quote.base_fee > limit:
        raise FeeCapExceededError(limit)
    max_fee = min(limit, 2 * quote.base_fee + quote.priority_fee)
    return GasFees(max_fee=max_fee, priority_fee=min(quote.priority_fee, max_fee))


def bumped_fees(chain_id: int, quote: FeeQuote, *, over: GasFees) -> GasFees:
    """Return a replacement's fees for a transaction with the fees `over`: an eighth more, or the current ones.

    Raises FeeCapExceededError if an eighth more is above the cap.
    """
    limit, least = (
        max_fee_cap(chain_id),
        GasFees(max_fee=_raised(over.max_fee), priority_fee=_raised(over.priority_fee)),
    )
    if least.max_fee > limit:
        raise FeeCapExceededError(limit)
    tip = max(quote.priority_fee, quote.disputed_priority_fee)
    max_fee = min(limit, max(least.max_fee, 2 * quote.base_fee + tip))
    return GasFees(max_fee=max_fee, priority_fee=min(max_fee, max(least.priority_fee, tip)))


def _raised(fee: int) -> int:
    """Return the fee plus an eighth, rounded up; always higher, also from zero."""
    return max(fee + 1, -(-fee * _RAISED_BY_EIGHTHS // 8))


# EIP-7825: no transaction may have more gas than this.
_MOST_GAS = 16_777_216


def add_gas_reserve(estimate: int) -> int:
    """Return the estimate plus a fifth, as the launchpad's SDK reserves: state may change before it is mined."""
    reserved = estimate * 6 // 5
    # On a chain without the EIP, an estimate may be above the limit.
    return reserved if estimate > _MOST_GAS else min(reserved, _MOST_GAS)
