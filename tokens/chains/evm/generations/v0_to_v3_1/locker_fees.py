"""Uncollected fees of generations v0 to v3.1, and whose they are. Lockers pay at once, so that none is harvested.

By the lockers' public source, LpLocker of v0 and v1 pays the team and its own owner; LpMetaLocker (which took over
positions of v0) and LpLockerv2 of v2 and v3.0 pay the team and a recipient; LpLockerv2 of v3.1 pays the team, a creator
and an interface. Each rounds all parts down but one, which gets the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.evm.eth_calls import Answer, Question, ask_groups
from tokens.chains.evm.generations.v0_to_v3_1 import position_fees
from tokens.chains.rpc.client import RpcClient
from tokens.chains.token_fees import ALL_BPS, Currency, FeeShare, TokenFees, UncollectedFees, divide

_LOCKER = codec.load("lockers")
_SYMBOL = codec.load("token").function("symbol")

# No locker has them all; which it has tells its kind.
_ABOUT_LOCKER = ("owner", "_feeRecipient", "_clankerTeamRecipient", "teamRecipient")
_ABOUT_POSITION = (
    "_userFeeRecipientForToken",
    "_userRewardRecipientForToken",
    "_teamOverrideFeeRecipientForToken",
    "_teamOverrideRewardRecipientForToken",
    "teamOverrideRewardRecipientForToken",
    "tokenRewards",
)
_ZERO_ADDRESS = "0x" + "00" * 20
_BPS_PER_PERCENT = 100
# v3.1's TEAM_REWARD and MAX_CREATOR_REWARD, in percent; nothing is left for an interface beside the latter.
_TEAM_PERCENT, _MOST_FOR_CREATOR = 20, 80

Told = Mapping[str, Answer]


@dataclass(frozen=True, kw_only=True)
class _Split:
    """Who gets how many bps, rounded down, and who the rest; None is somebody whom the chain does not tell."""

    parts: Sequence[tuple[str | None, int]]
    rest: str | None


def read_v3_fees(
    rpc: RpcClient, *, manager: str, position_id: int, block: int, launched_for: Sequence[tuple[str, int]]
) -> TokenFees:
    """What waits for whom after a block; `manager` is the NonfungiblePositionManager, `launched_for` as in `Chain`.

    Raises NodeUnavailable, FeesUnreadable.
    """
    fees = position_fees.read_uncollected_fees(rpc, manager=manager, position_id=position_id, block=block)
    symbols, about_locker, about_position = ask_groups(
        rpc,
        [Question(contract=waiting.currency, function=_SYMBOL) for waiting in fees.amounts],
        [Question(contract=fees.locker, function=_LOCKER.function(name)) for name in _ABOUT_LOCKER],
        [
            Question(contract=fees.locker, function=_LOCKER.function(name), arguments=(position_id,))
            for name in _ABOUT_POSITION
        ],
        block=block,
    )
    told = dict(zip((*_ABOUT_LOCKER, *_ABOUT_POSITION), (*about_locker, *about_position), strict=True))
    split = _split(fees, told, position_id=position_id, launched_for=launched_for)
    return TokenFees(
        block_number=block,
        currencies=tuple(
            Currency(address=waiting.currency, symbol=symbol["symbol"] if symbol else None, decimals=waiting.decimals)
            for waiting, symbol in zip(fees.amounts, symbols, strict=True)
        ),
        shares=_shares(split, [waiting.amount for waiting in fees.amounts]),
        conversion="none",
    )


def _split(fees: UncollectedFees, told: Told, *, position_id: int, launched_for: Sequence[tuple[str, int]]) -> _Split:
    """By what the locker tells, else by the launch; all of it is nobody's where neither does."""
    rewards = told["tokenRewards"]
    if rewards and rewards["lpTokenId"] == position_id:
        return _split_of_v31(told, rewards)
    if fees.team_percent is not None:
        return _split_before_v31(told, fees.team_percent)
    users = [(who, bps) for who, bps in launched_for if bps]
    if not users:
        return _Split(parts=(), rest=None)
    team_bps = ALL_BPS - sum(bps for _, bps in users)
    return _Split(parts=[(_team_of_v31(told), team_bps), *users[:-1]], rest=users[-1][0])


def _split_of_v31(told: Told, rewards: dict[str, Any]) -> _Split:
    team = _team_of_v31(told)
    # Who is nobody leaves his part to the team.
    creator, interface = (_recipient(rewards[role]) or team for role in ("creator", "interfacer"))
    teams = (team, _TEAM_PERCENT * _BPS_PER_PERCENT)
    percent = rewards["creatorReward"]
    if percent >= _MOST_FOR_CREATOR:
        return _Split(parts=[teams], rest=creator)
    return _Split(parts=[teams, (creator, percent * _BPS_PER_PERCENT)], rest=interface)


def _team_of_v31(told: Told) -> str | None:
    return _recipient(told["teamOverrideRewardRecipientForToken"]) or _recipient(told["teamRecipient"])


def _split_before_v31(told: Told, team_percent: int) -> _Split:
    user = _recipient(told["_userFeeRecipientForToken"]) or _recipient(told["_userRewardRecipientForToken"])
    if told["_feeRecipient"] is not None:
        # A locker of one token's: its owner says where they go, himself as a rule.
        user = _recipient(told["owner"])
    teams = (
        "_teamOverrideFeeRecipientForToken",
        "_teamOverrideRewardRecipientForToken",
        "_clankerTeamRecipient",
        "_feeRecipient",
    )
    team = next((found for found in (_recipient(told[name]) for name in teams) if found), None)
    return _Split(parts=[(team, team_percent * _BPS_PER_PERCENT)], rest=user)


def _recipient(answer: Answer) -> str | None:
    return answer["recipient"] if answer and answer["recipient"] != _ZERO_ADDRESS else None


def _shares(split: _Split, amounts: Sequence[int]) -> tuple[FeeShare, ...]:
    """Everybody once: one may have several parts, and who is not told is one for all."""
    columns = [divide(amount, [bps for _, bps in split.parts]) for amount in amounts]
    rows = zip((*(who for who, _ in split.parts), split.rest), zip(*columns, strict=True), strict=True)
    # Whoever gets nothing by the locker's rule, as a team with 0 %, is no recipient.
    taking = [bps > 0 for _, bps in split.parts] + [True]
    found: dict[str | None, list[int]] = {}
    for (who, paid), takes in zip(rows, taking, strict=True):
        if takes:
            before = found.setdefault(who, [0] * len(amounts))
            found[who] = [sum(pair) for pair in zip(before, paid, strict=True)]
    return tuple(
        FeeShare(recipient=who, harvested=(0,) * len(amounts), pending=tuple(paid)) for who, paid in found.items()
    )
