"""A token's liquidity: what its launch locked, and what waits in the pool for those who share its fees.

The first is told by the token's row, the second by chain reads joined with the row and its market.
"""

import math
from dataclasses import dataclass
from decimal import Decimal

from config.http.json_client import Retryable
from tokens.chains.registry.entry_rules import PROGRAMS
from tokens.chains.token_fees import UncollectedFees
from tokens.chains.types import FeesUnreadable
from tokens.installation.installed_chains import installed_chain, registry
from tokens.models import Token

_ALL_BPS = 10_000
# Of the launches whose liquidity is no single NFT.
_WITHOUT_NFT = ("v4", *PROGRAMS)
# The parts of a supply that are no liquidity, where no sum of them is told.
_ALLOCATIONS = ("vault", "airdrop")


class PriceUnknown(Retryable):
    """The market-data provider has not told a price that is needed."""


@dataclass(frozen=True, kw_only=True)
class LockedLiquidity:
    """What a launch locked as liquidity, in wei of the token. None is unknown."""

    # 20 bytes up to generation v3.1, the 32-byte pool id for v4.
    pool: str | None
    locker: str | None
    # Of v4, which has several with consecutive ids, the first.
    nft_id: str | None
    deposited: int | None
    supply: int | None
    name: str
    symbol: str

    @property
    def percent_locked(self) -> str | None:
        """Percent of the supply, `100` or `67.5`, to four decimals and rounded down, so that 100 is all of it."""
        if self.deposited is None or not self.supply:
            return None
        return str(Decimal(self.deposited * 1_000_000 // self.supply) / 10_000)


def locked_liquidity(token: Token) -> LockedLiquidity:
    """What the token's launch put into its pool for good; what was bought since doesn't change it.

    Source: the factories of v0 to v3.0 put in the whole supply, v3.1 leaves out the vault, v4 what its extensions get.
    Presales of v3.0 are not told apart, as its event says nothing of them. A few wei less are really moved, because
    positions are rounded.
    """
    supply = None if token.supply is None else int(token.supply)
    allocated = _allocated(token)
    return LockedLiquidity(
        pool=token.pool_address or None,
        locker=token.locker_address or None,
        nft_id=token.position_id or _told(token, "first_position_id"),
        deposited=None if supply is None or allocated is None else supply - allocated,
        supply=supply,
        name=token.name,
        symbol=token.symbol,
    )


def has_lp_nft(token: Token) -> bool:
    """Whether one LP NFT stands for the token's liquidity, as up to generation v3.1."""
    generation = registry().generations.get(token.generation)
    return bool(token.position_id) if generation is None else generation.event not in _WITHOUT_NFT


def _allocated(token: Token) -> int | None:
    """What the launch gave away before the rest became liquidity."""
    told = _told(token, "extensions_supply")
    if told is not None:
        return int(told)
    if token.presale_id:
        # A row that was written before launches were kept: nothing else tells what a presale got.
        return None
    return sum(int(token.extensions[part]["amount"]) for part in _ALLOCATIONS if token.extensions[part])


def _told(token: Token, fact: str) -> str | None:
    """What the launch told; None where it didn't, or where the row was written before launches were kept."""
    told = token.launch.facts.get(fact) if hasattr(token, "launch") else None
    return None if told is None else str(told)


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
