"""Rules for rewards of the liquidity, and for the parts of the supply outside the pool."""

from functools import partial
from typing import Any

from config.parsing import json_rules
from config.parsing.json_rules import REQUIRED, DataclassRule, FieldRule, Rule, format_object, list_of
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
# Limits of the contracts, as the longest presale is.
VAULT_LOCKUP_DAYS = 7
AIRDROP_LOCKUP_DAYS = 1
PRESALE_LOCKUP_DAYS = 7
_MAX_PRESALE_SECONDS = 6 * 7 * scalars.SECONDS_PER_DAY

_MAX_PERCENT = str(MAX_EXTENSION_BPS // 100)
_ADDRESS = FieldRule(rule=scalars.address)
# Empty means the token's admin.
_RECIPIENT = FieldRule(rule=scalars.address, attribute="recipient", default="")


def _days(attribute: str, *, least: int, default: Any = REQUIRED) -> FieldRule:
    rule = scalars.days_in_seconds(least=least)
    return FieldRule(rule=rule, attribute=attribute, unit=scalars.SECONDS_PER_DAY, default=default)


def _percent(rule: Rule) -> FieldRule:
    return FieldRule(rule=rule, attribute="bps", unit=scalars.BPS_PER_PERCENT)


def _ether(attribute: str) -> FieldRule:
    return FieldRule(rule=scalars.ether_in_wei(), attribute=attribute, unit=scalars.WEI_PER_COIN)


_VESTING = _days("vesting", least=0, default=0)
_REWARD = DataclassRule(
    Reward,
    {
        "admin": _ADDRESS,
        "recipient": _ADDRESS,
        "allocation": _percent(json_rules.positive(scalars.percent_in_bps(), unit="percent")),
        "rewardsToken": FieldRule(
            rule=json_rules.choice("Both", "Clanker", "Paired"), attribute="currency", default="Both"
        ),
    },
)
# The recipients of a pretoken are paid in both currencies.
_ADMIN = DataclassRule(
    partial(Reward, currency="Both"),
    {
        "admin": _ADDRESS,
        "recipient": _ADDRESS,
        "bps": FieldRule(rule=json_rules.whole_number(least=1, most=ALL_BPS, unit="bps")),
    },
)
_REWARDS, _ADMINS = (list_of(rule, least=1, most=MAX_REWARDS) for rule in (_REWARD, _ADMIN))


def rewards(value: Any) -> tuple[Reward, ...]:
    """Parse 1 to 7 recipients; their allocations sum to 100 percent."""
    parsed: tuple[Reward, ...] = _REWARDS(value)
    total = sum(reward.bps for reward in parsed)
    if total != ALL_BPS:
        raise ValueError(f"must have allocations that sum to exactly 100 percent, and these sum to {total / 100:g}")
    return parsed


def admins(value: Any) -> tuple[Reward, ...]:
    """Parse the recipients of a pretoken, which are in bps and paid in both currencies."""
    parsed: tuple[Reward, ...] = _ADMINS(value)
    total = sum(entry.bps for entry in parsed)
    if total != ALL_BPS:
        raise ValueError(f"must have bps that sum to exactly {ALL_BPS}, and these sum to {total}")
    return parsed


_addresses = list_of(scalars.address, least=1, most=MAX_ALLOWED)


def _allowlist(value: Any) -> tuple[str, ...]:
    """Parse unique EIP-55 addresses: a duplicate would look as if the account could pay twice."""
    allowed: tuple[str, ...] = _addresses(value)
    if len(set(allowed)) < len(allowed):
        raise ValueError("must have each address once")
    return allowed


vault = DataclassRule(
    VaultShare,
    {
        "percentage": _percent(scalars.percent_in_bps(most=_MAX_PERCENT)),
        "lockupDuration": _days("lockup", least=VAULT_LOCKUP_DAYS),
        "vestingDuration": _VESTING,
        "recipient": _RECIPIENT,
    },
)
_AIRDROP_TIMES = {"lockupDuration": _days("lockup", least=AIRDROP_LOCKUP_DAYS), "vestingDuration": _VESTING}
airdrop = DataclassRule(AirdropShare, {"entries": FieldRule(rule=entry_list), **_AIRDROP_TIMES})
presale = DataclassRule(
    PresaleTerms,
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
        "allowlist": FieldRule(rule=_allowlist, default=()),
    },
)
dev_buy = DataclassRule(OwnBuy, {"ethAmount": _ether("wei"), "recipient": _RECIPIENT})


def rewards_json(given: tuple[Reward, ...]) -> list[Any]:
    """Return the rewards in the keys and units of `rewards`."""
    return [_REWARD.to_json(reward) for reward in given]


def airdrop_json(given: AirdropShare | None) -> dict[str, Any] | None:
    """Return the airdrop with the number of its entries, their sum in wei and the Merkle root in their place."""
    if given is None:
        return None
    summary = {"count": len(given.entries), "total": str(given.total), "merkleRoot": given.tree.root}
    return summary | format_object(given, _AIRDROP_TIMES)
