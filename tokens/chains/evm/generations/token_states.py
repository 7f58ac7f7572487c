"""Current state of launched tokens, from their contracts: the fields that events after launch may have changed.

A field is read only if its change emits a followed event, so that a token is the same whether its events or its state
were read. Tokens and lockers up to v3.0 emit none; a vault's record has nothing that changes.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.abi.codec import AbiFunction
from tokens.chains.evm.eth_calls import ViewCall, ViewResult, call_views_in_block
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import RpcClient
from tokens.chains.types import Airdrop, BlockHeader, FeeRecipient, Launch, StateAtBlock, TokenState, fee_currency

logger = logging.getLogger(__name__)

_TOKEN = codec.load_abi("token")
# v3.1's view takes the LP NFT, v4's view takes the token.
_V31_REWARDS = codec.load_abi("lockers").function("tokenRewards")
_REWARDS = codec.load_abi("v4_fees").function("tokenRewards")
_PREFERENCE = codec.load_abi("v4_fees").function("feePreferences")
_AIRDROP = codec.load_abi("v4").function("airdrops")

# Field of TokenState -> the token's view. v4 returns most of them by `allData()`, too, which v3.1 lacks.
_TOKEN_VIEWS = {
    "admin": _TOKEN.function("admin"),
    "image": _TOKEN.function("imageUrl"),
    "metadata": _TOKEN.function("metadata"),
    "verified": _TOKEN.function("isVerified"),
}
# Launch layouts whose tokens have these views.
_WITH_VIEWS = ("v3_1", "v4")
# v3.1's reward roles, in the sequence of the launch's recipients.
_V31_ROLES = ("creator", "interfacer")


# View name, and the call's index among the calls with this name.
_Key = tuple[str, int]


def read_states(
    rpc: RpcClient, chain: ChainInfo, launches: Sequence[Launch], *, header: BlockHeader
) -> StateAtBlock | None:
    """Return the launched tokens' state after a block; None if no token has views.

    One request, unless it has more calls than a batch may have. A value that a contract does not return stays None, and
    is logged. Raises NodeUnavailableError.
    """
    views = [_views(chain, launch) for launch in launches]
    calls = [call for each in views for call in each.values()]
    if not calls:
        return None
    results = iter(call_views_in_block(rpc, calls, header))
    states = []
    for launch, each in zip(launches, views, strict=True):
        result_by_key = {key: next(results) for key in each}
        for key, result in result_by_key.items():
            if result is None:
                problem = f"{each[key].contract} returns nothing for {each[key].function.signature}"
                logger.warning("chain %s: no current state of %s: %s", chain.chain_id, launch.token, problem)
        states.append(_state(launch, result_by_key))
    return StateAtBlock(block_number=header.number, block_hash=header.hash, tokens=tuple(states))


def _views(chain: ChainInfo, launch: Launch) -> dict[_Key, ViewCall]:
    generation = chain.factory_generation(launch.factory.lower())
    layout, token = generation.event if generation else "", launch.token
    views: dict[_Key, ViewCall] = {}

    def view(contract: str, function: AbiFunction, *arguments: Any) -> ViewCall:
        is_registered = chain.has_contract(contract)
        return ViewCall(contract=contract, function=function, arguments=arguments, trusted=is_registered)

    if layout in _WITH_VIEWS:
        views |= {(name, 0): view(token, function) for name, function in _TOKEN_VIEWS.items()}
    if layout == "v3_1" and launch.locker and launch.fee_recipients:
        views["rewards", 0] = view(launch.locker, _V31_REWARDS, launch.position_id)
    if layout == "v4" and launch.locker and launch.fee_recipients:
        views["rewards", 0] = view(launch.locker, _REWARDS, token)
        for index in range(len(launch.fee_recipients)):
            views["preference", index] = view(launch.locker, _PREFERENCE, token, index)
    # The first airdrop version has no admin and never changes.
    if launch.airdrop and launch.airdrop.admin:
        for index, contract in enumerate(chain.addresses("airdrop")):
            views["airdrop", index] = view(contract, _AIRDROP, token)
    return views


def _state(launch: Launch, results: Mapping[_Key, ViewResult]) -> TokenState:
    own = {name: value for name in _TOKEN_VIEWS for value in (results.get((name, 0)) or {}).values()}
    return TokenState(
        token=launch.token, fee_recipients=_fee_recipients(launch, results), airdrop=_airdrop(launch, results), **own
    )


def _fee_recipients(launch: Launch, results: Mapping[_Key, ViewResult]) -> tuple[FeeRecipient, ...] | None:
    """Return the launch's shares with their current admins, recipients and currencies."""
    shares, accounts = launch.fee_recipients, _reward_accounts(launch, results.get(("rewards", 0)))
    if not accounts or len(accounts) != len(shares):
        return None
    # v3.1's lockers and v4's older locker have no preferences.
    preferences = [results.get(("preference", index)) for index in range(len(shares))]
    currencies = [
        fee_currency(result["preference"]) if result else share.token
        for share, result in zip(shares, preferences, strict=True)
    ]
    return tuple(
        replace(share, admin=admin, recipient=recipient, token=currency)
        for share, (admin, recipient), currency in zip(shares, accounts, currencies, strict=True)
    )


def _reward_accounts(launch: Launch, rewards: ViewResult) -> Sequence[tuple[str, str]]:
    """Return admin and recipient per share; empty if the locker returns none, or another launch's rewards."""
    if rewards is None:
        return ()
    if "lpTokenId" in rewards:
        is_its_own = rewards["lpTokenId"] == launch.position_id
        return [(rewards[role]["admin"], rewards[role]["recipient"]) for role in _V31_ROLES] if is_its_own else ()
    info = rewards["info"]
    admins, recipients = info["rewardAdmins"], info["rewardRecipients"]
    if info["token"] != launch.token or len(admins) != len(recipients):
        return ()
    return list(zip(admins, recipients, strict=True))


def _airdrop(launch: Launch, results: Mapping[_Key, ViewResult]) -> Airdrop | None:
    """Return the launch's airdrop with its current root and admin, from the contract that holds it."""
    for (name, _), entry in results.items():
        if name == "airdrop" and entry and launch.airdrop and entry["totalSupply"] == launch.airdrop.amount:
            return replace(launch.airdrop, merkle_root=entry["merkleRoot"], admin=entry["admin"])
    return None
