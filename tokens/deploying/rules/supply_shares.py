"""Who gets what: the rewards of the liquidity, and the parts of the supply that don't go into the pool."""

from typing import Any

from config.json_rules import Key, list_of, object_of
from tokens.chains.launching.launch_config import ALL_BPS, MAX_EXTENSION_BPS, OwnBuy, PresaleTerms, Reward, VaultShare
from tokens.deploying.rules import scalars
from tokens.deploying.rules.airdrop_entries import entries

MAX_REWARDS = 7
MAX_ALLOWED = 10_000
# The contracts' own, as is the longest presale.
VAULT_LOCKUP_DAYS = 7
AIRDROP_LOCKUP_DAYS = 1
PRESALE_LOCKUP_DAYS = 7
_MAX_PRESALE_SECONDS = 6 * 7 * scalars.SECONDS_PER_DAY

_MAX_PERCENT = str(MAX_EXTENSION_BPS // 100)
_VESTING = Key(rule=scalars.days_in_seconds(least=0), default=0)

_REWARD = object_of(
    {
        "admin": Key(rule=scalars.address),
        "recipient": Key(rule=scalars.address),
        "allocation": Key(rule=scalars.positive(scalars.percent_in_bps(), unit="percent")),
        "rewardsToken": Key(rule=scalars.choice("Both", "Clanker", "Paired"), default="Both"),
    }
)
_REWARDS = list_of(_REWARD, least=1, most=MAX_REWARDS)
_ADMINS = list_of(
    object_of(
        {
            "admin": Key(rule=scalars.address),
            "recipient": Key(rule=scalars.address),
            "bps": Key(rule=scalars.whole(least=1, most=ALL_BPS, unit="bps")),
        }
    ),
    least=1,
    most=MAX_REWARDS,
)


def rewards(value: Any) -> tuple[Reward, ...]:
    """1 to 7 recipients, whose allocations are all there is."""
    taken = tuple(
        Reward(
            admin=reward["admin"],
            recipient=reward["recipient"],
            bps=reward["allocation"],
            currency=reward["rewardsToken"],
        )
        for reward in _REWARDS(value)
    )
    total = sum(reward.bps for reward in taken)
    if total != ALL_BPS:
        raise ValueError(f"must have allocations that sum to exactly 100 percent, and these sum to {total / 100:g}")
    return taken


def admins(value: Any) -> tuple[Reward, ...]:
    """The same in the words of pretokens, which count in bps and pay in both currencies."""
    taken = tuple(
        Reward(admin=entry["admin"], recipient=entry["recipient"], bps=entry["bps"], currency="Both")
        for entry in _ADMINS(value)
    )
    total = sum(entry.bps for entry in taken)
    if total != ALL_BPS:
        raise ValueError(f"must have bps that sum to exactly {ALL_BPS}, and these sum to {total}")
    return taken


# None as a recipient is the token's admin.
vault = object_of(
    {
        "percentage": Key(rule=scalars.percent_in_bps(most=_MAX_PERCENT)),
        "lockupDuration": Key(rule=scalars.days_in_seconds(least=VAULT_LOCKUP_DAYS)),
        "vestingDuration": _VESTING,
        "recipient": Key(rule=scalars.address, default=None),
    }
)
airdrop = object_of(
    {
        "entries": Key(rule=entries),
        "lockupDuration": Key(rule=scalars.days_in_seconds(least=AIRDROP_LOCKUP_DAYS)),
        "vestingDuration": _VESTING,
    }
)
_addresses = list_of(scalars.address, least=1, most=MAX_ALLOWED)


def _allowlist(value: Any) -> tuple[str, ...]:
    """EIP-55 addresses, each once: a second one would look as if it could pay twice."""
    allowed: tuple[str, ...] = _addresses(value)
    if len(set(allowed)) < len(allowed):
        raise ValueError("must have each address once")
    return allowed


presale = object_of(
    {
        "minEthGoal": Key(rule=scalars.ether_in_wei()),
        "maxEthGoal": Key(rule=scalars.ether_in_wei()),
        "presaleDuration": Key(rule=scalars.whole(least=60, most=_MAX_PRESALE_SECONDS, unit="seconds")),
        "recipient": Key(rule=scalars.address, default=None),
        "lockupDuration": Key(
            rule=scalars.days_in_seconds(least=PRESALE_LOCKUP_DAYS),
            default=PRESALE_LOCKUP_DAYS * scalars.SECONDS_PER_DAY,
        ),
        "vestingDuration": _VESTING,
        "presaleSupplyBps": Key(rule=scalars.whole(least=1, most=MAX_EXTENSION_BPS, unit="bps"), default=5_000),
        # An empty one would let nobody buy, and no one means that.
        "allowlist": Key(rule=_allowlist, default=()),
    }
)
dev_buy = object_of(
    {"ethAmount": Key(rule=scalars.ether_in_wei()), "recipient": Key(rule=scalars.address, default=None)}
)


def all_to(admin: str) -> tuple[Reward, ...]:
    """The rewards of a launch that says nothing of them."""
    return (Reward(admin=admin, recipient=admin, bps=ALL_BPS, currency="Both"),)


def vault_share(taken: dict[str, Any] | None, *, admin: str) -> VaultShare | None:
    """What `vault` took; none for none of the supply, which the contract would refuse."""
    if not taken or not taken["percentage"]:
        return None
    return VaultShare(
        admin=taken["recipient"] or admin,
        bps=taken["percentage"],
        lockup=taken["lockupDuration"],
        vesting=taken["vestingDuration"],
    )


def presale_terms(taken: dict[str, Any] | None, *, admin: str) -> PresaleTerms | None:
    """What `presale` took."""
    if not taken:
        return None
    return PresaleTerms(
        bps=taken["presaleSupplyBps"],
        min_goal=taken["minEthGoal"],
        max_goal=taken["maxEthGoal"],
        duration=taken["presaleDuration"],
        recipient=taken["recipient"] or admin,
        lockup=taken["lockupDuration"],
        vesting=taken["vestingDuration"],
        allowlist=taken["allowlist"],
    )


def own_buy(taken: dict[str, Any] | None, *, admin: str) -> OwnBuy | None:
    """What `dev_buy` took."""
    return OwnBuy(wei=taken["ethAmount"], recipient=taken["recipient"] or admin) if taken else None


def show_rewards(given: tuple[Reward, ...]) -> list[dict[str, Any]]:
    """The rewards in the keys and units that `rewards` takes; so do those below for theirs."""
    return [
        {
            "admin": reward.admin,
            "recipient": reward.recipient,
            "allocation": scalars.in_units(reward.bps, scalars.BPS_PER_PERCENT),
            "rewardsToken": reward.currency,
        }
        for reward in given
    ]


def show_vault(given: VaultShare) -> dict[str, Any]:
    return {
        "percentage": scalars.in_units(given.bps, scalars.BPS_PER_PERCENT),
        **show_times(lockup=given.lockup, vesting=given.vesting),
        "recipient": given.admin,
    }


def show_presale(given: PresaleTerms) -> dict[str, Any]:
    return {
        "minEthGoal": scalars.in_units(given.min_goal, scalars.WEI_PER_COIN),
        "maxEthGoal": scalars.in_units(given.max_goal, scalars.WEI_PER_COIN),
        "presaleDuration": given.duration,
        "recipient": given.recipient,
        **show_times(lockup=given.lockup, vesting=given.vesting),
        "presaleSupplyBps": given.bps,
        "allowlist": list(given.allowlist),
    }


def show_own_buy(given: OwnBuy) -> dict[str, Any]:
    return {"ethAmount": scalars.in_units(given.wei, scalars.WEI_PER_COIN), "recipient": given.recipient}


def show_times(*, lockup: int, vesting: int) -> dict[str, Any]:
    """Both from seconds to days."""
    return {
        "lockupDuration": scalars.in_units(lockup, scalars.SECONDS_PER_DAY),
        "vestingDuration": scalars.in_units(vesting, scalars.SECONDS_PER_DAY),
    }
