"""Uncollected fees of generation v4: what the fee locker keeps for the recipients, and what is still in the pool.

Whose they are is the locker's present state and not the launch's: recipients and their wishes change. The lockers are
ClankerLpLockerFeeConversion and the older ClankerLpLockerMultiple, of which the latter swaps for nobody; both are read
by their public source. All answers are of one block.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import eth_abi
from eth_utils.crypto import keccak

from tokens.chains.abi import codec
from tokens.chains.evm.eth_calls import Answer, Question, ask, ask_groups
from tokens.chains.evm.generations.v4.fee_collection import Slot, collect
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import RpcClient
from tokens.chains.token_fees import Currency, FeeShare, TokenFees
from tokens.chains.types import ContractUnknown, FeesUnreadable

_LOCKER = codec.load("v4_fees")
_UNISWAP = codec.load("uniswap_v4")
_TOKEN = codec.load("token")
_AVAILABLE = _LOCKER.function("availableFees")

# Far more than a locker takes, of positions and of recipients: no answer may have us ask a node for ever.
_MOST = 50
_TICK_BITS = 24


class Pair(NamedTuple):
    """An amount in each of the pool's currencies, in their order."""

    first: int
    second: int


@dataclass(frozen=True, kw_only=True)
class _Deal:
    """What the locker says of a token: its pool, its positions, and who gets the fees."""

    locker: str
    token: str
    fee_locker: str
    currencies: tuple[str, str]
    pool_id: bytes
    positions: range
    recipients: tuple[str, ...]
    bps: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class _V4Chain:
    """A chain's nodes at one block, and the contracts of Uniswap v4 there."""

    rpc: RpcClient
    info: ChainInfo
    block: int
    manager: str
    state_view: str


def read_v4_fees(
    rpc: RpcClient, *, info: ChainInfo, block: int, token: str, locker: str, owner: str | None
) -> TokenFees:
    """What waits for whom after a block: for the recipients, and for `owner` even where he is none of them (any more).

    Raises NodeUnavailable, FeesUnreadable, and ContractUnknown where the registry lacks Uniswap's contracts.
    """
    chain = _V4Chain(
        rpc=rpc,
        info=info,
        block=block,
        manager=_known(info.v4_position_manager, "v4_position_manager"),
        state_view=_known(info.v4_state_view, "v4_state_view"),
    )
    deal = _read_deal(chain, token=token, locker=locker)
    owners = tuple(dict.fromkeys([*deal.recipients, *([owner] if owner else [])]))
    decimals, symbols, places, wishes, available = ask_groups(
        rpc,
        [Question(contract=currency, function=_TOKEN.function("decimals")) for currency in deal.currencies],
        [Question(contract=currency, function=_TOKEN.function("symbol")) for currency in deal.currencies],
        [_about_position(chain, position_id) for position_id in deal.positions],
        [_about_wish(deal, index) for index in range(len(deal.recipients))],
        [_about_available(deal, who, currency) for who in owners for currency in deal.currencies],
        block=block,
    )
    amounts = _read_amounts(chain, deal, places)
    slots = _slots(deal, wishes)
    pending, conversion = collect(
        rpc, locker=locker, token=token, currencies=deal.currencies, amounts=amounts, slots=slots, block=block
    )
    harvested = [_required(answer, "availableFees")["amount"] for answer in available]
    return TokenFees(
        block_number=block,
        currencies=tuple(map(_currency, deal.currencies, decimals, symbols)),
        shares=tuple(
            FeeShare(
                recipient=who,
                harvested=tuple(harvested[2 * place : 2 * place + 2]),
                pending=pending.get(who, (0, 0)),
            )
            for place, who in enumerate(owners)
        ),
        conversion=conversion,
    )


def _read_deal(chain: _V4Chain, *, token: str, locker: str) -> _Deal:
    rewards, fee_locker = ask(
        chain.rpc,
        [
            Question(contract=locker, function=_LOCKER.function("tokenRewards"), arguments=(token,)),
            Question(contract=locker, function=_LOCKER.function("feeLocker")),
        ],
        block=chain.block,
    )
    deal: dict[str, Any] = _required(rewards, "tokenRewards")["info"]
    key = tuple(deal["poolKey"].values())
    recipients, bps = deal["rewardRecipients"], deal["rewardBps"]
    in_bounds = 0 < len(recipients) == len(bps) <= _MOST and 0 < deal["numPositions"] <= _MOST
    if deal["token"] != token or token not in key[:2] or not in_bounds:
        raise FeesUnreadable(f"{locker} does not hold the liquidity of {token}")
    return _Deal(
        locker=locker,
        token=token,
        # The locker's word counts; a chain may have several fee lockers.
        fee_locker=fee_locker["feeLocker"] if fee_locker else _registered_fee_locker(chain.info),
        currencies=(key[0], key[1]),
        # PoolKey{currency0, currency1, fee, tickSpacing, hooks}
        pool_id=keccak(eth_abi.encode(["address", "address", "uint24", "int24", "address"], key)),
        positions=range(deal["positionId"], deal["positionId"] + deal["numPositions"]),
        recipients=recipients,
        bps=bps,
    )


def _registered_fee_locker(info: ChainInfo) -> str:
    return _known(next(iter(info.addresses("fee_locker")), None), "fee_locker")


def _about_position(chain: _V4Chain, position_id: int) -> Question:
    return Question(contract=chain.manager, function=_UNISWAP.function("positionInfo"), arguments=(position_id,))


def _about_wish(deal: _Deal, index: int) -> Question:
    return Question(contract=deal.locker, function=_LOCKER.function("feePreferences"), arguments=(deal.token, index))


def _about_available(deal: _Deal, owner: str, currency: str) -> Question:
    return Question(contract=deal.fee_locker, function=_AVAILABLE, arguments=(owner, currency))


def _slots(deal: _Deal, wishes: list[Answer]) -> list[Slot]:
    """The recipients with what they want: both currencies, where the locker is one that has no such choice."""
    if not any(wishes):
        wants = [0] * len(wishes)
    else:
        wants = [_required(wish, "feePreferences")["preference"] for wish in wishes]
    return [
        Slot(recipient=recipient, bps=bps, wants=want)
        for recipient, bps, want in zip(deal.recipients, deal.bps, wants, strict=True)
    ]


def _read_amounts(chain: _V4Chain, deal: _Deal, places: list[Answer]) -> Pair:
    """What the pool owes to all positions, as PoolManager counts it when they are touched."""
    questions: list[Question] = []
    for position_id, place in zip(deal.positions, places, strict=True):
        ticks = _ticks(_required(place, "positionInfo")["info"], pool_id=deal.pool_id)
        # PositionManager owns all positions there, and tells them apart by their number.
        about = (deal.pool_id, chain.manager, *ticks, position_id.to_bytes(32))
        questions += [
            Question(contract=chain.state_view, function=_UNISWAP.function("getPositionInfo"), arguments=about),
            Question(
                contract=chain.state_view,
                function=_UNISWAP.function("getFeeGrowthInside"),
                arguments=(deal.pool_id, *ticks),
            ),
        ]
    answers = iter(ask(chain.rpc, questions, block=chain.block))
    owed = [
        _owed(_required(position, "getPositionInfo"), _required(growth, "getFeeGrowthInside"))
        for position, growth in zip(answers, answers, strict=True)
    ]
    return Pair(sum(each.first for each in owed), sum(each.second for each in owed))


def _ticks(packed: int, *, pool_id: bytes) -> tuple[int, int]:
    """The lower and the upper tick of a PositionInfo (25 bytes of the pool id, upper tick, lower tick, a flag)."""
    if packed.to_bytes(32)[:25] != pool_id[:25]:
        raise FeesUnreadable("a position is of another pool than the locker says")
    lower, upper = ((packed >> shift) % 2**_TICK_BITS for shift in (8, 8 + _TICK_BITS))
    return _signed(lower), _signed(upper)


def _signed(tick: int) -> int:
    return tick - 2**_TICK_BITS if tick >> (_TICK_BITS - 1) else tick


def _owed(position: dict[str, Any], growth: dict[str, Any]) -> Pair:
    """Growth is kept modulo 2^256, and wraps; each position's fees are rounded down."""
    first, second = (
        (growth[f"feeGrowthInside{place}X128"] - position[f"feeGrowthInside{place}LastX128"]) % 2**256
        * position["liquidity"]
        // 2**128
        for place in (0, 1)
    )  # fmt: skip
    return Pair(first, second)


def _currency(address: str, decimals: Answer, symbol: Answer) -> Currency:
    return Currency(
        address=address,
        symbol=symbol["symbol"] if symbol else None,
        decimals=_required(decimals, "decimals")["decimals"],
    )


def _required(answer: Answer, what: str) -> dict[str, Any]:
    if answer is None:
        raise FeesUnreadable(f"a contract has no answer to {what}")
    return answer


def _known(address: str | None, key: str) -> str:
    if address is None:
        raise ContractUnknown(key)
    return address
