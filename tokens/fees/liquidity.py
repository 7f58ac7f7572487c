"""A token's liquidity: the amount locked at launch, and the uncollected fees in its pool.

The locked amount comes from the token's row, the fees from chain reads joined with the row and its market.
"""

import math
from decimal import Decimal

from config.http.errors import RetryableError
from tokens.chains.errors import FeesUnavailableError
from tokens.chains.registry.entry_rules import PROGRAMS
from tokens.chains.token_fees import UncollectedFees
from tokens.fees.responses import LpInfoAnswer
from tokens.installation.installed_chains import installed_chain
from tokens.installation.installed_launchpads import is_declared
from tokens.installation.installed_registry import registry
from tokens.models import Token

_ALL_BPS = 10_000
# Generations without a single liquidity NFT.
_WITHOUT_NFT = ("v4", *PROGRAMS)
# Supply parts that are not liquidity, for launches without a stored sum.
_ALLOCATIONS = ("vault", "airdrop")


class PriceUnknownError(RetryableError):
    """Raised when the market-data provider has not returned a required price yet."""


def locked_liquidity(token: Token) -> LpInfoAnswer:
    """Return the liquidity that the token's launch locked, in the token's wei; later trades don't change it.

    Source: factories up to v3.0 deposit the whole supply, v3.1 the supply without the vault, v4 without its
    extensions. v3.0 presales can't be recognized, since their event does not contain them. The amount moved is a
    few wei less, because positions are rounded.
    """
    supply = None if token.supply is None else int(token.supply)
    allocated = _allocated(token)
    deposited = None if supply is None or allocated is None else supply - allocated
    return {
        "poolAddress": token.pool_address or None,
        "lockerAddress": token.locker_address or None,
        # v4 has several NFTs with consecutive ids; this is the first.
        "lpNftId": token.position_id or _launch_fact(token, "first_position_id"),
        "amountDepositedIntoLP": None if deposited is None else str(deposited),
        "totalSupply": None if supply is None else str(supply),
        "percentLocked": _percent_locked(deposited, supply),
        "token_name": token.name,
        "token_symbol": token.symbol,
    }


def _percent_locked(deposited: int | None, supply: int | None) -> str | None:
    """Return the locked percentage, such as `100` or `67.5`.

    Up to four decimals, rounded down, so that 100 means all of it.
    """
    if deposited is None or not supply:
        return None
    return str(Decimal(deposited * 1_000_000 // supply) / 10_000)


def has_lp_nft(token: Token) -> bool:
    """Return whether one LP NFT represents the token's liquidity, as up to generation v3.1."""
    generation = registry().generations.get(token.generation)
    return bool(token.position_id) if generation is None else generation.event not in _WITHOUT_NFT


def _allocated(token: Token) -> int | None:
    """Return the amount that the launch allocated before the rest became liquidity; None is unknown."""
    total = _launch_fact(token, "extensions_supply")
    if total is not None:
        return int(total)
    if token.presale_id or is_declared(token.generation):
        # The row is older than stored launches, so the presale's amount is unknown. A declared launchpad may keep,
        # sell or give away any part.
        return None
    return sum(int(token.extensions[extension]["amount"]) for extension in _ALLOCATIONS if token.extensions[extension])


def _launch_fact(token: Token, fact: str) -> str | None:
    """Return a fact from the stored launch; None if it is missing, or the row is older than stored launches."""
    value = token.launch.facts.get(fact) if hasattr(token, "launch") else None
    return None if value is None else str(value)


def estimate_user_rewards(token: Token) -> float:
    """Return the USD value that a pool's uncollected fees have for all reward recipients, up to generation v3.1.

    The launchpad team's part is excluded. Raises UnsupportedChainError, NodeUnavailableError, FeesUnavailableError,
    and PriceUnknownError if a currency with uncollected fees has no price; without fees no price is needed.
    """
    fees = installed_chain(token.chain_id).read_uncollected_fees(int(token.position_id))
    prices = {token.contract_address: token.market.price_usd, token.paired_token: token.market.quote_price_usd}
    if {uncollected.currency for uncollected in fees.amounts} != set(prices):
        raise FeesUnavailableError(f"position {token.position_id} is not in the pool of {token}")
    team_percent = _team_percent(token, fees)
    return math.fsum(
        _value_usd(
            uncollected.amount - uncollected.amount * team_percent // 100,
            uncollected.decimals,
            prices[uncollected.currency],
        )
        for uncollected in fees.amounts
    )


def _team_percent(token: Token, fees: UncollectedFees) -> int:
    """Return the team's percentage.

    The launch fixes it (v3.1); for earlier tokens the locker has it, and the locker's owner may change it.
    """
    recipients = (token.extensions["fees"] or {}).get("recipients")
    if recipients:
        shared_bps: int = sum(recipient["bps"] for recipient in recipients)
        return (_ALL_BPS - shared_bps) * 100 // _ALL_BPS
    if fees.team_percent is None:
        raise FeesUnavailableError(f"locker {fees.locker} is of an unknown kind")
    return fees.team_percent


def _value_usd(amount: int, decimals: int, price_usd: float | None) -> float:
    if not amount:
        return 0.0
    if price_usd is None:
        raise PriceUnknownError("a currency with uncollected fees has no known price")
    return float(amount / 10**decimals * price_usd)
