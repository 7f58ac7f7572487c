"""Rules for rewards of the liquidity, and for the parts of the supply outside the pool."""

from typing import Any

from config import json_rules
from config.json_rules import FieldRule, list_of, object_of
from tokens.chains.launching.launch_config import ALL_BPS, MAX_EXTENSION_BPS, OwnBuy, PresaleTerms, Reward, VaultShare
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
_VESTING = FieldRule(rule=scalars.days_in_seconds(least=0), default=0)

_REWARD = object_of(
    {
        "admin": FieldRule(rule=scalars.address),
        "recipient": FieldRule(rule=scalars.address),
        "allocation": FieldRule(rule=json_rules.positive(scalars.percent_in_bps(), unit="percent")),
        "rewardsToken": FieldRule(rule=json_rules.choice("Both", "Clanker", "Paired"), default="Both"),
    }
)
_REWARDS = list_of(_REWARD, least=1, most=MAX_REWARDS)
_ADMINS = list_of(
    object_of(
        {
            "admin": FieldRule(rule=scalars.address),
            "recipient": FieldRule(rule=scalars.address),
            "bps": FieldRule(rule=json_rules.whole_number(least=1, most=ALL_BPS, unit="bps")),
        }
    ),
    least=1,
    most=MAX_REWARDS,
)


def rewards(value: Any) -> tuple[Reward, ...]:
    """Parse 1 to 7 recipients; their allocations sum to 100 percent."""
    parsed = tuple(
        Reward(
            admin=reward["admin"],
            recipient=reward["recipient"],
            bps=reward["allocation"],
            currency=reward["rewardsToken"],
        )
        for reward in _REWARDS(value)
    )
    total = sum(reward.bps for reward in parsed)
    if total != ALL_BPS:
        raise ValueError(f"must have allocations that sum to exactly 100 percent, and these sum to {total / 100:g}")
    return parsed


def admins(value: Any) -> tuple[Reward, ...]:
    """Parse the recipients of a pretoken, which are in bps and paid in both currencies."""
    parsed = tuple(
        Reward(admin=entry["admin"], recipient=entry["recipient"], bps=entry["bps"], currency="Both")
        for entry in _ADMINS(value)
    )
    total = sum(entry.bps for entry in parsed)
    if total != ALL_BPS:
        raise ValueError(f"must have bps that sum to exactly {ALL_BPS}, and these sum to {total}")
    return parsed


# A recipient of None means the token's admin.
vault = object_of(
    {
        "percentage": FieldRule(rule=scalars.percent_in_bps(most=_MAX_PERCENT)),
        "lockupDuration": FieldRule(rule=scalars.days_in_seconds(least=VAULT_LOCKUP_DAYS)),
        "vestingDuration": _VESTING,
        "recipient": FieldRule(rule=scalars.address, default=None),
    }
)
airdrop = object_of(
    {
        "entries": FieldRule(rule=entry_list),
        "lockupDuration": FieldRule(rule=scalars.days_in_seconds(least=AIRDROP_LOCKUP_DAYS)),
        "vestingDuration": _VESTING,
    }
)
_addresses = list_of(scalars.address, least=1, most=MAX_ALLOWED)


def _allowlist(value: Any) -> tuple[str, ...]:
    """Parse unique EIP-55 addresses: a duplicate would look as if the account could pay twice."""
    allowed: tuple[str, ...] = _addresses(value)
    if len(set(allowed)) < len(allowed):
        raise ValueError("must have each address once")
    return allowed


presale = object_of(
    {
        "minEthGoal": FieldRule(rule=scalars.ether_in_wei()),
        "maxEthGoal": FieldRule(rule=scalars.ether_in_wei()),
        "presaleDuration": FieldRule(rule=json_rules.whole_number(least=60, most=_MAX_PRESALE_SECONDS, unit="seconds")),
        "recipient": FieldRule(rule=scalars.address, default=None),
        "lockupDuration": FieldRule(
            rule=scalars.days_in_seconds(least=PRESALE_LOCKUP_DAYS),
            default=PRESALE_LOCKUP_DAYS * scalars.SECONDS_PER_DAY,
        ),
        "vestingDuration": _VESTING,
        "presaleSupplyBps": FieldRule(
            rule=json_rules.whole_number(least=1, most=MAX_EXTENSION_BPS, unit="bps"), default=5_000
        ),
        # An empty list would exclude every buyer, which is a mistake.
        "allowlist": FieldRule(rule=_allowlist, default=()),
    }
)
dev_buy = object_of(
    {"ethAmount": FieldRule(rule=scalars.ether_in_wei()), "recipient": FieldRule(rule=scalars.address, default=None)}
)


def default_rewards(admin: str) -> tuple[Reward, ...]:
    """Return the rewards of a launch request without rewards: all to the admin."""
    return (Reward(admin=admin, recipient=admin, bps=ALL_BPS, currency="Both"),)


def vault_share(parsed: dict[str, Any] | None, *, admin: str) -> VaultShare | None:
    """Return the share of a parsed `vault`; None for 0 percent, which the contract would reject."""
    if not parsed or not parsed["percentage"]:
        return None
    return VaultShare(
        admin=parsed["recipient"] or admin,
        bps=parsed["percentage"],
        lockup=parsed["lockupDuration"],
        vesting=parsed["vestingDuration"],
    )


def presale_terms(parsed: dict[str, Any] | None, *, admin: str) -> PresaleTerms | None:
    """Return the terms of a parsed `presale`."""
    if not parsed:
        return None
    return PresaleTerms(
        bps=parsed["presaleSupplyBps"],
        min_goal=parsed["minEthGoal"],
        max_goal=parsed["maxEthGoal"],
        duration=parsed["presaleDuration"],
        recipient=parsed["recipient"] or admin,
        lockup=parsed["lockupDuration"],
        vesting=parsed["vestingDuration"],
        allowlist=parsed["allowlist"],
    )


def dev_buy_terms(parsed: dict[str, Any] | None, *, admin: str) -> OwnBuy | None:
    """Return the purchase of a parsed `devBuy`."""
    return OwnBuy(wei=parsed["ethAmount"], recipient=parsed["recipient"] or admin) if parsed else None


def rewards_json(given: tuple[Reward, ...]) -> list[dict[str, Any]]:
    """Return the rewards in the keys and units of `rewards`."""
    return [
        {
            "admin": reward.admin,
            "recipient": reward.recipient,
            "allocation": scalars.to_units(reward.bps, scalars.BPS_PER_PERCENT),
            "rewardsToken": reward.currency,
        }
        for reward in given
    ]


def vault_json(given: VaultShare) -> dict[str, Any]:
    """Return the vault's share in the keys and units of `vault`."""
    return {
        "percentage": scalars.to_units(given.bps, scalars.BPS_PER_PERCENT),
        **lockup_json(lockup=given.lockup, vesting=given.vesting),
        "recipient": given.admin,
    }


def presale_json(given: PresaleTerms) -> dict[str, Any]:
    """Return the presale's terms in the keys and units of `presale`."""
    return {
        "minEthGoal": scalars.to_units(given.min_goal, scalars.WEI_PER_COIN),
        "maxEthGoal": scalars.to_units(given.max_goal, scalars.WEI_PER_COIN),
        "presaleDuration": given.duration,
        "recipient": given.recipient,
        **lockup_json(lockup=given.lockup, vesting=given.vesting),
        "presaleSupplyBps": given.bps,
        "allowlist": list(given.allowlist),
    }


def dev_buy_json(given: OwnBuy) -> dict[str, Any]:
    """Return the purchase in the keys and units of `dev_buy`."""
    return {"ethAmount": scalars.to_units(given.wei, scalars.WEI_PER_COIN), "recipient": given.recipient}


def lockup_json(*, lockup: int, vesting: int) -> dict[str, Any]:
    """Return both durations, converted from seconds to days."""
    return {
        "lockupDuration": scalars.to_units(lockup, scalars.SECONDS_PER_DAY),
        "vestingDuration": scalars.to_units(vesting, scalars.SECONDS_PER_DAY),
    }
