"""Uncollected fees of generations v0 to v3.1, split by recipient. Lockers pay out at once, so nothing is harvested.

By the lockers' public source, the LpLocker in v0 and v1 pays the team and its own owner. LpMetaLocker, which took over
v0 positions, and the LpLockerv2 in v2 and v3.0 pay the team and a recipient. The LpLockerv2 in v3.1 pays the team, a
creator and an interface. Each locker rounds all shares down except the last, which is the remainder.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.addresses import ZERO_ADDRESS
from tokens.chains.evm.eth_calls import ViewCall, ViewResult, call_view_groups
from tokens.chains.evm.generations.v0_to_v3_1 import position_fees
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import RpcClient
from tokens.chains.token_fees import ALL_BPS, Currency, FeeShare, TokenFees, UncollectedFees, split_by_bps

_LOCKER = codec.load_abi("lockers")
_SYMBOL = codec.load_abi("token").function("symbol")

# Locker views. No locker has all of them; the views that return a value identify the kind of locker.
_ABOUT_LOCKER = ("owner", "_feeRecipient", "_clankerTeamRecipient", "teamRecipient")
_ABOUT_POSITION = (
    "_userFeeRecipientForToken",
    "_userRewardRecipientForToken",
    "_teamOverrideFeeRecipientForToken",
    "_teamOverrideRewardRecipientForToken",
    "teamOverrideRewardRecipientForToken",
    "tokenRewards",
)
_BPS_PER_PERCENT = 100
# v3.1's TEAM_REWARD and MAX_CREATOR_REWARD, in percent; at the latter no share remains for an interface.
_TEAM_PERCENT, _MAX_FOR_CREATOR = 20, 80

LockerState = Mapping[str, ViewResult]


@dataclass(frozen=True, kw_only=True)
class _Split:
    """Shares in bps, rounded down, and the remainder's recipient; None is a recipient not stored on chain."""

    parts: Sequence[tuple[str | None, int]]
    rest: str | None


def read_v3_fees(
    rpc: RpcClient,
    *,
    info: ChainInfo,
    manager: str,
    position_id: int,
    block: int,
    launched_for: Sequence[tuple[str, int]],
) -> TokenFees:
    """Return the uncollected fees by recipient at a block. `manager` is the NonfungiblePositionManager.

    `launched_for` as in `Chain`. Raises NodeUnavailableError, FeesUnavailableError.
    """
    fees = position_fees.read_uncollected_fees(rpc, info=info, manager=manager, position_id=position_id, block=block)
    symbols, about_locker, about_position = call_view_groups(
        rpc,
        [ViewCall(contract=waiting.currency, function=_SYMBOL) for waiting in fees.amounts],
        [position_fees.locker_view(info, fees.locker, _LOCKER.function(name)) for name in _ABOUT_LOCKER],
        [position_fees.locker_view(info, fees.locker, _LOCKER.function(name), position_id) for name in _ABOUT_POSITION],
        block=block,
    )
    state = dict(zip((*_ABOUT_LOCKER, *_ABOUT_POSITION), (*about_locker, *about_position), strict=True))
    split = _split(fees, state, position_id=position_id, launched_for=launched_for)
    return TokenFees(
        block_number=block,
        currencies=tuple(
            Currency(address=waiting.currency, symbol=symbol["symbol"] if symbol else None, decimals=waiting.decimals)
            for waiting, symbol in zip(fees.amounts, symbols, strict=True)
        ),
        shares=_shares(split, [waiting.amount for waiting in fees.amounts]),
        conversion="none",
    )


def _split(
    fees: UncollectedFees, state: LockerState, *, position_id: int, launched_for: Sequence[tuple[str, int]]
) -> _Split:
    """Return the split by the locker's state, else by the launch; with neither, the recipient is unknown."""
    rewards = state["tokenRewards"]
    if rewards and rewards["lpTokenId"] == position_id:
        return _split_of_v31(state, rewards)
    if fees.team_percent is not None:
        return _split_before_v31(state, fees.team_percent)
    users = [(recipient, bps) for recipient, bps in launched_for if bps]
    if not users:
        return _Split(parts=(), rest=None)
    team_bps = ALL_BPS - sum(bps for _, bps in users)
    return _Split(parts=[(_team_of_v31(state), team_bps), *users[:-1]], rest=users[-1][0])


def _split_of_v31(state: LockerState, rewards: dict[str, Any]) -> _Split:
    team = _team_of_v31(state)
    # Without a recipient, the share falls to the team.
    creator, interface = (_recipient(rewards[role]) or team for role in ("creator", "interfacer"))
    teams = (team, _TEAM_PERCENT * _BPS_PER_PERCENT)
    percent = rewards["creatorReward"]
    if percent >= _MAX_FOR_CREATOR:
        return _Split(parts=[teams], rest=creator)
    return _Split(parts=[teams, (creator, percent * _BPS_PER_PERCENT)], rest=interface)


def _team_of_v31(state: LockerState) -> str | None:
    return _recipient(state["teamOverrideRewardRecipientForToken"]) or _recipient(state["teamRecipient"])


def _split_before_v31(state: LockerState, team_percent: int) -> _Split:
    user = _recipient(state["_userFeeRecipientForToken"]) or _recipient(state["_userRewardRecipientForToken"])
    if state["_feeRecipient"] is not None:
        # A single token's locker: its owner decides on the recipient, by default itself.
        user = _recipient(state["owner"])
    teams = (
        "_teamOverrideFeeRecipientForToken",
        "_teamOverrideRewardRecipientForToken",
        "_clankerTeamRecipient",
        "_feeRecipient",
    )
    team = next(filter(None, (_recipient(state[name]) for name in teams)), None)
    return _Split(parts=[(team, team_percent * _BPS_PER_PERCENT)], rest=user)


def _recipient(result: ViewResult) -> str | None:
    return result["recipient"] if result and result["recipient"] != ZERO_ADDRESS else None


def _shares(split: _Split, amounts: Sequence[int]) -> tuple[FeeShare, ...]:
    """Sum up the shares by recipient: one may have several, and all unknown recipients count as one."""
    columns = [split_by_bps(amount, [bps for _, bps in split.parts]) for amount in amounts]
    rows = zip((*(recipient for recipient, _ in split.parts), split.rest), zip(*columns, strict=True), strict=True)
    # A share of 0 bps, such as a team share of 0 %, has no recipient.
    has_share = [bps > 0 for _, bps in split.parts] + [True]
    paid_by_recipient: dict[str | None, list[int]] = {}
    for (recipient, paid), included in zip(rows, has_share, strict=True):
        if included:
            before = paid_by_recipient.setdefault(recipient, [0] * len(amounts))
            paid_by_recipient[recipient] = [sum(pair) for pair in zip(before, paid, strict=True)]
    return tuple(
        FeeShare(recipient=recipient, harvested=(0,) * len(amounts), pending=tuple(paid))
        for recipient, paid in paid_by_recipient.items()
    )
