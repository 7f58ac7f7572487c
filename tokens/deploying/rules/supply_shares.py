"""Rules for liquidity rewards, and for supply parts outside the pool."""

from functools import partial
from typing import Any

from config.parsing import json_rules
from config.parsing.json_rules import REQUIRED, FieldRule, Rule, format_object, list_of, object_of, refined
from tokens.chains.launching.launch_config import (
    ALL_BPS,
    MAX_EXTENSION_BPS,
    AirdropShare,
    OwnBuy,
    PresaleTerms,
    Reward,
    VaultShare,
)
from tokens.deploying.rules import scalars
from tokens.deploying.rules.airdrop_entries import entry_list

MAX_REWARDS = 7
MAX_ALLOWED = 10_000
# Limits in the contracts, as the longest presale is.
VAULT_LOCKUP_DAYS = 7
AIRDROP_LOCKUP_DAYS = 1
PRESALE_LOCKUP_DAYS = 7
_MAX_PRESALE_SECONDS = 6 * 7 * scalars.SECONDS_PER_DAY

_MAX_PERCENT = str(MAX_EXTENSION_BPS // 100)
_ADDRESS = FieldRule(rule=scalars.address)
# Empty means the token's admin.
_RECIPIENT = FieldRule(
    rule=scalars.address, attribute="recipient", default="", description="Default: the token's admin."
)


def _days(attribute: str, *, least: int, default: Any = REQUIRED, description: str = "") -> FieldRule:
    return FieldRule(
        rule=scalars.days_in_seconds(least=least),
        attribute=attribute,
        unit=scalars.SECONDS_PER_DAY,
        default=default,
        description=description,
    )


def _percent(rule: Rule, *, description: str = "") -> FieldRule:
    return FieldRule(rule=rule, attribute="bps", unit=scalars.BPS_PER_PERCENT, description=description)


def _ether(attribute: str) -> FieldRule:
    return FieldRule(rule=scalars.ether_in_wei(), attribute=attribute, unit=scalars.WEI_PER_COIN)


_VESTING = _days("vesting", least=0, default=0, description="Days, after the lockup.")
reward = object_of(
    {
        "admin": FieldRule(rule=scalars.address, description="Account that may change the recipient."),
        "recipient": _ADDRESS,
        "allocation": _percent(
            scalars.percent_in_bps(above_zero=True),
            description="Percent above 0, with at most 2 decimals; those of all rewards sum to exactly 100.",
        ),
        "rewardsToken": FieldRule(
            rule=json_rules.choice("Both", "Clanker", "Paired"), attribute="currency", default="Both"
        ),
    },
    build=Reward,
    name="RewardShape",
    description="Share of the liquidity's fees.",
)
# A pretoken's recipients are paid in both currencies.
_ADMIN = object_of(
    {
        "admin": _ADDRESS,
        "recipient": _ADDRESS,
        "bps": FieldRule(
            rule=json_rules.whole_number(least=1, most=ALL_BPS, unit="bps"),
            description=f"The sum over all admins is exactly {ALL_BPS}.",
        ),
    },
    build=partial(Reward, currency="Both"),
    name="PretokenAdminShape",
    description="A share of the liquidity's fees, and the account that may change its recipient.",
)


@refined(list_of(reward, least=1, most=MAX_REWARDS))
def rewards(parsed: tuple[Reward, ...]) -> tuple[Reward, ...]:
    """Check that the allocations for 1 to 7 recipients sum to 100 percent."""
    total = sum(reward.bps for reward in parsed)
    if total != ALL_BPS:
        raise ValueError(f"must have allocations that sum to exactly 100 percent, and these sum to {total / 100:g}")
    return parsed


@refined(list_of(_ADMIN, least=1, most=MAX_REWARDS))
def admins(parsed: tuple[Reward, ...]) -> tuple[Reward, ...]:
    """Check that a pretoken's recipients, which are paid in both currencies, have all bps."""
    total = sum(entry.bps for entry in parsed)
    if total != ALL_BPS:
        raise ValueError(f"must have bps that sum to exactly {ALL_BPS}, and these sum to {total}")
    return parsed


@refined(list_of(scalars.address, least=1, most=MAX_ALLOWED))
def _allowlist(allowed: tuple[str, ...]) -> tuple[str, ...]:
    """Check that EIP-55 addresses are unique: a duplicate would look as if the account could pay twice."""
    if len(set(allowed)) < len(allowed):
        raise ValueError("must have each address once")
    return allowed


vault = object_of(
    {
        "percentage": _percent(scalars.percent_in_bps(most=_MAX_PERCENT)),
        "lockupDuration": _days("lockup", least=VAULT_LOCKUP_DAYS),
        "vestingDuration": _VESTING,
        "recipient": _RECIPIENT,
    },
    build=VaultShare,
    name="VaultShape",
    description="Locked part of the supply.",
)
_AIRDROP_TIMES = {"lockupDuration": _days("lockup", least=AIRDROP_LOCKUP_DAYS), "vestingDuration": _VESTING}
airdrop = object_of(
    {"entries": FieldRule(rule=entry_list), **_AIRDROP_TIMES},
    build=AirdropShare,
    name="AirdropShape",
    description="Part of the supply, 0.25 to 90 percent in total, that accounts may claim.",
)
presale = object_of(
    {
        "minEthGoal": _ether("min_goal"),
        "maxEthGoal": _ether("max_goal"),
        "presaleDuration": FieldRule(
            rule=json_rules.whole_number(least=60, most=_MAX_PRESALE_SECONDS, unit="seconds"), attribute="duration"
        ),
        "recipient": _RECIPIENT,
        "lockupDuration": _days(
            "lockup", least=PRESALE_LOCKUP_DAYS, default=PRESALE_LOCKUP_DAYS * scalars.SECONDS_PER_DAY
        ),
        "vestingDuration": _VESTING,
        "presaleSupplyBps": FieldRule(
            rule=json_rules.whole_number(least=1, most=MAX_EXTENSION_BPS, unit="bps"), attribute="bps", default=5_000
        ),
        # An empty list would exclude every buyer, which is a mistake.
        "allowlist": FieldRule(
            rule=_allowlist, default=(), description="Accounts that may buy, each once; default: all."
        ),
    },
    build=PresaleTerms,
    name="PresaleShape",
    description="Sale before the launch, if the chain has a presale contract that this service may use.",
)
dev_buy = object_of(
    {"ethAmount": _ether("wei"), "recipient": _RECIPIENT},
    build=OwnBuy,
    name="DevBuyShape",
    description="Purchase within the launch, paid by this service, if an operator allows the key to spend on the "
    "chain.",
)


def airdrop_json(airdrop: AirdropShare | None) -> dict[str, Any] | None:
    """Return the airdrop with number and wei sum of its entries, and the Merkle root, instead of the entries."""
    if airdrop is None:
        return None
    summary = {"count": len(airdrop.entries), "total": str(airdrop.total), "merkleRoot": airdrop.tree.root}
    return summary | format_object(airdrop, _AIRDROP_TIMES)
