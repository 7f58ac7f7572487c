"""What is offered for a gas: enough for the blocks to come, and never more than the operator allows. All in wei."""

from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings

from config.http.json_client import Retryable
from tokens.chains.transaction_types import FeeQuote

WEI_PER_GWEI = 10**9

# Nodes take a transaction in place of another one with the same nonce from 10 % more on, for both fees; some want
# 12.5 %.
_RAISED_BY_EIGHTHS = 9


class FeesTooHigh(Retryable):
    """The chain wants more for a gas than the operator's cap; `cap` is that, in wei."""

    def __init__(self, cap: int) -> None:
        super().__init__(f"the chain wants more for a gas than the cap of {Decimal(cap) / WEI_PER_GWEI} gwei")
        self.cap = cap


@dataclass(frozen=True, kw_only=True, slots=True)
class Fees:
    """What a transaction of EIP-1559 pays for a gas at the most, and what of it goes to whoever makes the block."""

    max_fee: int
    priority_fee: int


def cap(chain_id: int) -> int:
    """The most that is paid for a gas on a chain, whatever happens."""
    gwei: Decimal = settings.DEPLOY_MAX_FEES_GWEI.get(chain_id, settings.DEPLOY_MAX_FEE_GWEI)
    return int(gwei * WEI_PER_GWEI)


def first_fees(chain_id: int, quote: FeeQuote) -> Fees:
    """What a new transaction offers: twice the base fee, so that it can double until a block takes it, and the tip.

    Raises FeesTooHigh where the base fee alone is over the cap.
    """
    limit = cap(chain_id)
    if quote.base_fee > limit:
        raise FeesTooHigh(limit)
    max_fee = min(limit, 2 * quote.base_fee + quote.priority_fee)
    return Fees(max_fee=max_fee, priority_fee=min(quote.priority_fee, max_fee))


def raised_fees(chain_id: int, quote: FeeQuote, *, over: Fees) -> Fees:
    """What takes the place of a transaction that offered `over`: an eighth more at least, and what a new one offers.

    Raises FeesTooHigh where that would be over the cap.
    """
    limit, least = cap(chain_id), Fees(max_fee=_raised(over.max_fee), priority_fee=_raised(over.priority_fee))
    if least.max_fee > limit:
        raise FeesTooHigh(limit)
    max_fee = min(limit, max(least.max_fee, 2 * quote.base_fee + quote.priority_fee))
    return Fees(max_fee=max_fee, priority_fee=min(max_fee, max(least.priority_fee, quote.priority_fee)))


def _raised(fee: int) -> int:
    """An eighth more, rounded up; never the same, as it would be from zero."""
    return max(fee + 1, -(-fee * _RAISED_BY_EIGHTHS // 8))


# How much gas a transaction of ours may use.
# EIP-7825: no transaction may have more gas than this.
_MOST_GAS = 16_777_216


def with_reserve(estimate: int) -> int:
    """A fifth more than was estimated, as the launchpad's SDK reserves: the chain moves on before it is sent."""
    reserved = estimate * 6 // 5
    # Where a chain knows no such bound, an estimate may be beyond it.
    return reserved if estimate > _MOST_GAS else min(reserved, _MOST_GAS)
