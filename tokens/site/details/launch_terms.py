"""Launch terms on a token's page, in numbers and dates: fees, shares, locked parts, sniper protection."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from config.site.formats import local_separators
from tokens.chains.types import WEI_PER_TOKEN
from tokens.installation.installed_registry import explorer_address_page
from tokens.models import Token
from tokens.site.page_tokens import has_moved
from tokens.trades.protocol_fees import total_fee

_BPS_PER_PERCENT, _PARTS_PER_PERCENT = 100, 10_000
_SHARES_SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class FeeTerms:
    """Trade cost in percent, with the launchpad's fee; None is unknown. A dynamic fee has bounds."""

    is_dynamic: bool
    buy: float | None
    sell: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class RewardShare:
    """One recipient's share in the fees, in percent, and the admin that may change the recipient."""

    percent: float
    # Both, Paired or Clanker: the currencies that the recipient is paid in.
    currency: str
    recipient: str
    recipient_page: str | None
    admin: str


@dataclass(frozen=True, kw_only=True)
class LockedPart:
    """Locked and later released part of the supply; a date is None if it is unknown or never comes."""

    amount: Decimal
    percent: Decimal | None
    locked_until: datetime | None
    # When an even release after the lock ends; None if all is free at once.
    released_at: datetime | None
    admin: str


@dataclass(frozen=True, kw_only=True)
class SniperTerms:
    """Fee in percent that falls within seconds after the launch."""

    first: float
    last: float
    seconds: int


@dataclass(frozen=True, kw_only=True)
class DevBuyTerms:
    """Purchase within the launch: whole tokens, and whole native coins if known."""

    amount: Decimal
    percent: Decimal | None
    paid: Decimal | None
    recipient: str
    recipient_page: str | None


@dataclass(frozen=True, kw_only=True)
class LaunchTerms:
    """Launch terms; None is unknown or absent."""

    supply: Decimal | None
    fees: FeeTerms | None
    shares: Sequence[RewardShare]
    hidden_shares: int
    vault: LockedPart | None
    airdrop: LockedPart | None
    dev_buy: DevBuyTerms | None
    sniper: SniperTerms | None


def launch_terms(token: Token) -> LaunchTerms:
    """Return the terms that the token's columns have; no query."""
    parts = token.extensions
    fees = parts.get("fees")
    shares = [_share(each, token) for each in (fees or {}).get("recipients") or ()]
    return LaunchTerms(
        supply=None if token.supply is None else whole_amount(token, token.supply),
        fees=_fees(fees) if fees and not has_moved(token) else None,
        shares=shares[:_SHARES_SHOWN],
        hidden_shares=max(0, len(shares) - _SHARES_SHOWN),
        vault=_locked(token, parts.get("vault")),
        airdrop=_locked(token, parts.get("airdrop")),
        dev_buy=_dev_buy(token, parts.get("devBuy")),
        sniper=_sniper(parts.get("sniperTax"), fees),
    )


def whole_amount(token: Token, units: int | str | Decimal) -> Decimal:
    """Return the token's smallest units as whole tokens."""
    return Decimal(units).scaleb(-token.decimals)


def exact_amount(units: int, *, decimals: int) -> str:
    """Format smallest units as exact whole ones with the language's separators: 100,000,000,000 or 0.5."""
    whole, rest = divmod(units, 10**decimals)
    text = f"{whole:,}." + f"{rest:0{decimals}}".rstrip("0") if rest else f"{whole:,}"
    return local_separators(text)


def _fees(fees: dict[str, Any]) -> FeeTerms:
    def percent(name: str) -> float | None:
        return None if fees.get(name) is None else _cost(fees[name] / _BPS_PER_PERCENT, fees)

    # A static fee depends on the currency that is paid in: the paired token in a purchase, the token in a sale.
    return FeeTerms(
        is_dynamic=fees.get("type") == "dynamic",
        buy=percent("pairedFee"),
        sell=percent("clankerFee"),
        low=percent("baseFee"),
        high=percent("maxFee"),
    )


def _cost(lp_fee: float, fees: dict[str, Any] | None) -> float:
    """Return a trade's cost by the liquidity fee: a v4 pool's hook adds the launchpad's fee."""
    return total_fee(lp_fee) if fees and fees.get("hook_address") else lp_fee


def _share(share: dict[str, Any], token: Token) -> RewardShare:
    return RewardShare(
        percent=share["bps"] / _BPS_PER_PERCENT,
        currency=share["token"],
        recipient=share["recipient"],
        recipient_page=explorer_address_page(token.chain_id, share["recipient"]),
        admin=share["admin"] or "",
    )


def _locked(token: Token, part: dict[str, Any] | None) -> LockedPart | None:
    if part is None:
        return None
    lockup = part.get("lockup") or {}
    until = _later(_moment(lockup.get("startedAt")), lockup.get("lockDuration") or 0)
    vesting = lockup.get("vestDuration") or 0
    return LockedPart(
        amount=whole_amount(token, part["amount"]),
        percent=_percent_of_supply(token, part["amount"]),
        locked_until=until,
        released_at=_later(until, vesting) if vesting else None,
        admin=part.get("admin") or "",
    )


def _dev_buy(token: Token, part: dict[str, Any] | None) -> DevBuyTerms | None:
    if part is None:
        return None
    recipient = part.get("recipient") or ""
    return DevBuyTerms(
        amount=whole_amount(token, part["amount"]),
        percent=_percent_of_supply(token, part["amount"]),
        paid=None if part.get("amountEth") is None else Decimal(part["amountEth"]) / WEI_PER_TOKEN,
        recipient=recipient,
        recipient_page=explorer_address_page(token.chain_id, recipient) if recipient else None,
    )


def _sniper(part: dict[str, Any] | None, fees: dict[str, Any] | None) -> SniperTerms | None:
    if part is None:
        return None
    first, last = (_cost(part[name] / _PARTS_PER_PERCENT, fees) for name in ("startingFee", "endingFee"))
    return SniperTerms(first=first, last=last, seconds=part["secondsToDecay"])


def _percent_of_supply(token: Token, units: str) -> Decimal | None:
    return Decimal(units) * 100 / token.supply if token.supply else None


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _later(moment: datetime | None, seconds: int) -> datetime | None:
    """Return the moment after so many seconds; None beyond the calendar: contracts accept any duration."""
    try:
        return None if moment is None else moment + timedelta(seconds=seconds)
    except OverflowError:
        return None
