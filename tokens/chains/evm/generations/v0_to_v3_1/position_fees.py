"""Uncollected fees from v0 to v3.1 liquidity: a Uniswap v3 position NFT, which a locker holds permanently.

The locker splits the fees: a share goes to the launchpad's team, the rest to the token's reward recipients.
A locker is identified by the functions it implements, not by the generation: v0 positions moved to a shared locker.
"""

from typing import Any

from tokens.chains.abi import codec
from tokens.chains.abi.codec import AbiFunction
from tokens.chains.addresses import ZERO_ADDRESS
from tokens.chains.errors import FeesUnavailableError
from tokens.chains.evm.eth_calls import ViewCall, ViewResult, call_view_groups, call_views
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import RpcClient
from tokens.chains.token_fees import FeeAmount, UncollectedFees

_MANAGER = codec.load_abi("uniswap_v3")
_LOCKER = codec.load_abi("lockers")
_DECIMALS = codec.load_abi("token").function("decimals")

# The team's percentage of all fees, by the lockers' public source: LpLocker in v0 and v1 (one per token), LpMetaLocker
# (which took over v0 positions), LpLockerv2 in v2 and v3.0. v3.1 is missing: its launch event contains the split.
_TEAM_PERCENTAGES = tuple(_LOCKER.function(name) for name in ("_fee", "_clankerTeamFee", "_clankerTeamReward"))
# The locker owner's override for one position, in the last two lockers; it applies only if it has a recipient.
_TEAM_EXCEPTIONS = tuple(
    _LOCKER.function(name) for name in ("_teamOverrideFeeRecipientForToken", "_teamOverrideRewardRecipientForToken")
)

# The maximum for `collect`, which collects all that is owed.
_ALL = 2**128 - 1


def read_uncollected_fees(
    rpc: RpcClient, *, info: ChainInfo, manager: str, position_id: int, block: int | None = None
) -> UncollectedFees:
    """Return the amounts that the owner would receive by collecting a position's fees now, or after a block.

    `manager` is the NonfungiblePositionManager. Its stored amounts (`positions`) lack the fees since the position was
    last updated; only `collect` computes them, and calling it by `eth_call` changes no state.
    Raises NodeUnavailableError, FeesUnavailableError.
    """
    about_position = [
        ViewCall(contract=manager, function=_MANAGER.function(name), arguments=(position_id,), trusted=True)
        for name in ("ownerOf", "positions")
    ]
    owner, position = call_views(rpc, about_position, block=block)
    if owner is None or position is None:
        raise FeesUnavailableError(f"{manager} has no position {position_id}")
    locker = owner["owner"]
    currencies = (position["token0"], position["token1"])
    (collected,), decimals, percentages, exceptions = call_view_groups(
        rpc,
        [_collect(manager, position_id, locker=locker)],
        [ViewCall(contract=currency, function=_DECIMALS) for currency in currencies],
        [locker_view(info, locker, function) for function in _TEAM_PERCENTAGES],
        [locker_view(info, locker, function, position_id) for function in _TEAM_EXCEPTIONS],
        block=block,
    )
    if collected is None:
        raise FeesUnavailableError(f"{locker} can't collect the fees of position {position_id}")
    amounts = (collected["amount0"], collected["amount1"])
    return UncollectedFees(
        locker=locker,
        amounts=tuple(map(_fee_amount, currencies, decimals, amounts)),
        team_percent=_team_percent(percentages, exceptions),
    )


def locker_view(info: ChainInfo, locker: str, function: AbiFunction, *arguments: Any) -> ViewCall:
    """Return the call to a locker's view, trusted if the registry has the locker: anyone may own other positions."""
    return ViewCall(contract=locker, function=function, arguments=arguments, trusted=info.has_contract(locker))


def _collect(manager: str, position_id: int, *, locker: str) -> ViewCall:
    # collect((uint256 tokenId, address recipient, uint128 amount0Max, uint128 amount1Max)), only for the NFT's owner.
    arguments = ((position_id, locker, _ALL, _ALL),)
    return ViewCall(
        contract=manager, function=_MANAGER.function("collect"), arguments=arguments, sender=locker, trusted=True
    )


def _fee_amount(currency: str, decimals: ViewResult, amount: int) -> FeeAmount:
    if decimals is None:
        raise FeesUnavailableError(f"{currency} does not return its decimals")
    return FeeAmount(currency=currency, decimals=decimals["decimals"], amount=amount)


def _team_percent(percentages: list[ViewResult], exceptions: list[ViewResult]) -> int | None:
    """Return the team's percentage; None if the kind of locker is unknown or it returns no valid percentage."""
    for exception in exceptions:
        if exception and exception["recipient"] != ZERO_ADDRESS:
            return _percentage(exception["percent"])
    percents = [_percentage(result["percent"]) for result in percentages if result]
    return percents[0] if len(percents) == 1 else None


def _percentage(number: int) -> int | None:
    return number if number <= 100 else None
