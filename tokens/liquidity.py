"""What waits in a token's pool for those who share its fees: chain reads joined with the token's row and its market."""

import math

from config.http import Retryable
from tokens.chains.base import FeesUnreadable, UncollectedFees
from tokens.installed_chains import installed_chain
from tokens.models import Token

_ALL_BPS = 10_000


class PriceUnknown(Retryable):
    """The market-data provider has not told a price that is needed."""


def estimate_user_rewards(token: Token) -> float:
    """USD that the token's reward recipients would get together, were its fees collected now, of v0 to v3.1.

    The team's part is left out: it goes to the launchpad. Raises UnsupportedChain, NodeUnavailable, FeesUnreadable,
    and PriceUnknown where fees wait in a currency without a price; where none wait, no price is needed.
    """
    fees = installed_chain(token.chain_id).read_uncollected_fees(int(token.position_id))
    prices = {token.contract_address: token.market.price_usd, token.paired_token: token.market.quote_price_usd}
    if {waiting.currency for waiting in fees.amounts} != set(prices):
        raise FeesUnreadable(f"position {token.position_id} is not of the pool of {token}")
    team_percent = _team_percent(token, fees)
    return math.fsum(
        _value(waiting.amount - waiting.amount * team_percent // 100, waiting.decimals, prices[waiting.currency])
        for waiting in fees.amounts
    )


def _team_percent(token: Token, fees: UncollectedFees) -> int:
    """As the launch said for good (v3.1), or as the locker says now: its owner may change it for earlier tokens."""
    recipients = (token.extensions["fees"] or {}).get("recipients")
    if recipients:
        shared_bps: int = sum(recipient["bps"] for recipient in recipients)
        return (_ALL_BPS - shared_bps) * 100 // _ALL_BPS
    if fees.team_percent is None:
        raise FeesUnreadable(f"{fees.locker} is a locker of an unknown kind")
    return fees.team_percent


def _value(amount: int, decimals: int, price_usd: float | None) -> float:
    if not amount:
        return 0.0
    if price_usd is None:
        raise PriceUnknown("fees wait in a currency whose price is not known")
    return float(amount / 10**decimals * price_usd)
