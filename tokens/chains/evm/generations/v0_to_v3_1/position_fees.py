"""Liquidity of generations v0 to v3.1: an NFT of Uniswap v3's position manager, which a locker holds for good.

Whose the fees are is the locker's decision: part of them goes to the launchpad's team, the rest to the token's reward
recipients. A locker is told by what it answers and not by the generation: positions of v0 were moved into a shared one.
"""

from tokens.chains.abi import codec
from tokens.chains.evm.eth_calls import Answer, Question, ask, ask_groups
from tokens.chains.rpc.client import RpcClient
from tokens.chains.token_fees import FeeAmount, UncollectedFees
from tokens.chains.types import FeesUnreadable

_MANAGER = codec.load("uniswap_v3")
_LOCKER = codec.load("lockers")
_DECIMALS = codec.load("token").function("decimals")

# The team's percentage of all fees, by the lockers' public source: LpLocker of v0 and v1 (one a token), LpMetaLocker
# (which took over positions of v0), LpLockerv2 of v2 and v3.0. v3.1 is missing: its launch event tells the split.
_TEAM_PERCENTAGES = tuple(_LOCKER.function(name) for name in ("_fee", "_clankerTeamFee", "_clankerTeamReward"))
# What the locker's owner set for one position instead, in the last two; it counts where it has a recipient.
_TEAM_EXCEPTIONS = tuple(
    _LOCKER.function(name) for name in ("_teamOverrideFeeRecipientForToken", "_teamOverrideRewardRecipientForToken")
)

_ZERO_ADDRESS = "0x" + "00" * 20
# The most that `collect` can be asked for: all there is.
_ALL = 2**128 - 1


def read_uncollected_fees(
    rpc: RpcClient, *, manager: str, position_id: int, block: int | None = None
) -> UncollectedFees:
    """What its owner would get by collecting the fees of a position now, or after a block.

    `manager` is the NonfungiblePositionManager. What it has on record (`positions`) lacks the fees since somebody last
    touched the position; only `collect` counts them, and an `eth_call` of it changes nothing.
    Raises NodeUnavailable, FeesUnreadable.
    """
    about_position = [
        Question(contract=manager, function=_MANAGER.function(name), arguments=(position_id,))
        for name in ("ownerOf", "positions")
    ]
    owner, position = ask(rpc, about_position, block=block)
    if owner is None or position is None:
        raise FeesUnreadable(f"{manager} does not know position {position_id}")
    locker = owner["owner"]
    currencies = (position["token0"], position["token1"])
    (collected,), decimals, percentages, exceptions = ask_groups(
        rpc,
        [_collect(manager, position_id, locker=locker)],
        [Question(contract=currency, function=_DECIMALS) for currency in currencies],
        [Question(contract=locker, function=function) for function in _TEAM_PERCENTAGES],
        [Question(contract=locker, function=function, arguments=(position_id,)) for function in _TEAM_EXCEPTIONS],
        block=block,
    )
    if collected is None:
        raise FeesUnreadable(f"{locker} can't collect the fees of position {position_id}")
    amounts = (collected["amount0"], collected["amount1"])
    return UncollectedFees(
        locker=locker,
        amounts=tuple(map(_fee_amount, currencies, decimals, amounts)),
        team_percent=_team_percent(percentages, exceptions),
    )


def _collect(manager: str, position_id: int, *, locker: str) -> Question:
    # collect((uint256 tokenId, address recipient, uint128 amount0Max, uint128 amount1Max)), for the NFT's owner alone.
    arguments = ((position_id, locker, _ALL, _ALL),)
    return Question(contract=manager, function=_MANAGER.function("collect"), arguments=arguments, sender=locker)


def _fee_amount(currency: str, decimals: Answer, amount: int) -> FeeAmount:
    if decimals is None:
        raise FeesUnreadable(f"{currency} does not tell its decimals")
    return FeeAmount(currency=currency, decimals=decimals["decimals"], amount=amount)


def _team_percent(percentages: list[Answer], exceptions: list[Answer]) -> int | None:
    """None where the locker is of none of the known kinds, or says what is no percentage."""
    for exception in exceptions:
        if exception and exception["recipient"] != _ZERO_ADDRESS:
            return _percentage(exception["percent"])
    told = [_percentage(answer["percent"]) for answer in percentages if answer]
    return told[0] if len(told) == 1 else None


def _percentage(number: int) -> int | None:
    return number if number <= 100 else None
