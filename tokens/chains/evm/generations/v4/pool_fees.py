"""Uncollected v4 fees by recipient: in the fee locker and in the pool.

The recipients come from the locker's current state and not from the launch: both they and their preferences change. The
lockers are ClankerLpLockerFeeConversion and the older ClankerLpLockerMultiple, which never swaps; both are read by
their public source. All calls are made at one block.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from sha3 import keccak_256

from tokens.chains.abi import codec
from tokens.chains.abi.codec import AbiFunction
from tokens.chains.errors import FeesUnavailableError, UnknownContractError
from tokens.chains.evm.eth_calls import ViewCall, ViewResult, call_view_groups, call_views
from tokens.chains.evm.generations.v4.fee_collection import RecipientSlot, estimate_payouts
from tokens.chains.evm.headers import read_headers
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import YEAR_10000
from tokens.chains.token_fees import Currency, FeeShare, TokenFees

_LOCKER = codec.load_abi("v4_fees")
_UNISWAP = codec.load_abi("uniswap_v4")
_TOKEN = codec.load_abi("token")
_AVAILABLE = _LOCKER.function("availableFees")

# Limit for positions and for recipients, far above a locker's own: it bounds the node calls per request.
_MAX_ENTRIES = 50
_TICK_BITS = 24


class CurrencyAmounts(NamedTuple):
    """Amounts in the pool's two currencies, in pool order."""

    first: int
    second: int


@dataclass(frozen=True, kw_only=True)
class _LockerEntry:
    """A token's entry in the locker: its pool, positions, and fee recipients."""

    locker: str
    token: str
    fee_locker: str
    currencies: tuple[str, str]
    hook: str
    pool_id: bytes
    positions: range
    recipients: tuple[str, ...]
    bps: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class _V4Chain:
    """A chain's RPC client at one block, with the Uniswap v4 contracts."""

    rpc: RpcClient
    info: ChainInfo
    block: int
    manager: str
    state_view: str

    def view(self, contract: str, function: AbiFunction, *arguments: Any, below: int | None = None) -> ViewCall:
        """Return the call to a view, trusted where the registry has the contract."""
        is_registered = self.info.has_contract(contract) or contract in (self.manager, self.state_view)
        return ViewCall(contract=contract, function=function, arguments=arguments, trusted=is_registered, below=below)


def read_v4_fees(
    rpc: RpcClient, *, info: ChainInfo, block: int, token: str, locker: str, owner: str | None
) -> TokenFees:
    """Return the uncollected fees by recipient at a block; `owner` is included even if it is no recipient any more.

    Raises NodeUnavailableError, FeesUnavailableError, and UnknownContractError if the registry lacks a contract.
    """
    chain = _V4Chain(
        rpc=rpc,
        info=info,
        block=block,
        manager=_require_address(info.v4_position_manager, "v4_position_manager"),
        state_view=_require_address(info.v4_state_view, "v4_state_view"),
    )
    entry = _read_locker_entry(chain, token=token, locker=locker)
    owners = tuple(dict.fromkeys([*entry.recipients, *([owner] if owner else [])]))
    decimals, symbols, position_results, preference_results, available, protection = call_view_groups(
        rpc,
        [ViewCall(contract=currency, function=_TOKEN.function("decimals")) for currency in entry.currencies],
        [ViewCall(contract=currency, function=_TOKEN.function("symbol")) for currency in entry.currencies],
        [_position_call(chain, position_id) for position_id in entry.positions],
        [_preference_call(chain, entry, index) for index in range(len(entry.recipients))],
        [_available_call(chain, entry, recipient, currency) for recipient in owners for currency in entry.currencies],
        _protection_calls(chain, entry),
        block=block,
    )
    slots = _slots(entry, preference_results)
    # The older locker has no preferences, and collects at any time.
    collectable_from = _protected_until(chain, protection) if any(preference_results) else None
    amounts = _read_amounts(chain, entry, position_results) if collectable_from is None else CurrencyAmounts(0, 0)
    pending, conversion = estimate_payouts(
        rpc, locker=locker, token=token, currencies=entry.currencies, amounts=amounts, slots=slots, block=block
    )
    harvested = [_required(result, "availableFees")["amount"] for result in available]
    return TokenFees(
        block_number=block,
        currencies=tuple(map(_currency, entry.currencies, decimals, symbols)),
        shares=tuple(
            FeeShare(
                recipient=recipient,
                harvested=tuple(harvested[2 * index : 2 * index + 2]),
                pending=pending.get(recipient, (0, 0)),
            )
            for index, recipient in enumerate(owners)
        ),
        conversion=conversion,
        collectable_from=collectable_from,
    )


def _read_locker_entry(chain: _V4Chain, *, token: str, locker: str) -> _LockerEntry:
    rewards, fee_locker = call_views(
        chain.rpc,
        [
            chain.view(locker, _LOCKER.function("tokenRewards"), token),
            chain.view(locker, _LOCKER.function("feeLocker")),
        ],
        block=chain.block,
    )
    entry: dict[str, Any] = _required(rewards, "tokenRewards")["info"]
    key = tuple(entry["poolKey"].values())
    recipients, bps = entry["rewardRecipients"], entry["rewardBps"]
    in_bounds = 0 < len(recipients) == len(bps) <= _MAX_ENTRIES and 0 < entry["numPositions"] <= _MAX_ENTRIES
    if entry["token"] != token or token not in key[:2] or not in_bounds:
        raise FeesUnavailableError(f"{locker} does not hold the liquidity of {token}")
    return _LockerEntry(
        locker=locker,
        token=token,
        # The locker's value takes precedence; a chain may have several fee lockers.
        fee_locker=fee_locker["feeLocker"] if fee_locker else _registered_fee_locker(chain.info),
        currencies=(key[0], key[1]),
        hook=key[4],
        # PoolKey{currency0, currency1, fee, tickSpacing, hooks}
        pool_id=keccak_256(codec.encode_values(["address", "address", "uint24", "int24", "address"], key)).digest(),
        positions=range(entry["positionId"], entry["positionId"] + entry["numPositions"]),
        recipients=recipients,
        bps=bps,
    )


def _registered_fee_locker(info: ChainInfo) -> str:
    return _require_address(next(iter(info.addresses("fee_locker")), None), "fee_locker")


def _position_call(chain: _V4Chain, position_id: int) -> ViewCall:
    return chain.view(chain.manager, _UNISWAP.function("positionInfo"), position_id)


def _preference_call(chain: _V4Chain, entry: _LockerEntry, index: int) -> ViewCall:
    return chain.view(entry.locker, _LOCKER.function("feePreferences"), entry.token, index)


def _available_call(chain: _V4Chain, entry: _LockerEntry, owner: str, currency: str) -> ViewCall:
    return chain.view(entry.fee_locker, _AVAILABLE, owner, currency)


def _protection_calls(chain: _V4Chain, entry: _LockerEntry) -> list[ViewCall]:
    return [
        chain.view(entry.hook, _LOCKER.function("mevModuleEnabled"), entry.pool_id),
        chain.view(entry.hook, _LOCKER.function("poolCreationTimestamp"), entry.pool_id, below=YEAR_10000),
        chain.view(entry.hook, _LOCKER.function("MAX_MEV_MODULE_DELAY"), below=YEAR_10000),
    ]


def _protected_until(chain: _V4Chain, protection: list[ViewResult]) -> int | None:
    """Return the Unix time from which the locker collects; None if it collects now.

    By its source, ClankerLpLockerFeeConversion does nothing while the hook's MEV module may block swaps: while it is
    enabled, and until the pool has existed for the longest delay. The module may end earlier.
    """
    enabled, created, delay = protection
    if not (enabled and enabled["enabled"] and created and delay):
        return None
    until: int = created["time"] + delay["seconds"]
    header = read_headers(chain.rpc, [chain.block]).get(chain.block)
    if header is None or until >= YEAR_10000:
        raise FeesUnavailableError(f"the time of block {chain.block} or of the end of a pool's protection is unknown")
    return until if until > header.time else None


def _slots(entry: _LockerEntry, preference_results: list[ViewResult]) -> list[RecipientSlot]:
    """Return the recipients with their preferences; both currencies for a locker without preferences."""
    if not any(preference_results):
        preferences = [0] * len(preference_results)
    else:
        preferences = [_required(result, "feePreferences")["preference"] for result in preference_results]
    return [
        RecipientSlot(recipient=recipient, bps=bps, preference=preference)
        for recipient, bps, preference in zip(entry.recipients, entry.bps, preferences, strict=True)
    ]


def _read_amounts(chain: _V4Chain, entry: _LockerEntry, position_results: list[ViewResult]) -> CurrencyAmounts:
    """Return the amounts that the pool owes to all positions, as PoolManager computes them on an update."""
    calls: list[ViewCall] = []
    for position_id, result in zip(entry.positions, position_results, strict=True):
        ticks = _ticks(_required(result, "positionInfo")["info"], pool_id=entry.pool_id)
        # PositionManager owns all positions in the pool, which are distinguished by their id.
        arguments = (entry.pool_id, chain.manager, *ticks, position_id.to_bytes(32))
        calls += [
            chain.view(chain.state_view, _UNISWAP.function("getPositionInfo"), *arguments),
            chain.view(chain.state_view, _UNISWAP.function("getFeeGrowthInside"), entry.pool_id, *ticks),
        ]
    results = iter(call_views(chain.rpc, calls, block=chain.block))
    owed = [
        _owed(_required(position, "getPositionInfo"), _required(growth, "getFeeGrowthInside"))
        for position, growth in zip(results, results, strict=True)
    ]
    return CurrencyAmounts(sum(each.first for each in owed), sum(each.second for each in owed))


def _ticks(packed: int, *, pool_id: bytes) -> tuple[int, int]:
    """Return the lower and upper tick of a PositionInfo (25 bytes of the pool id, upper tick, lower tick, a flag)."""
    if packed.to_bytes(32)[:25] != pool_id[:25]:
        raise FeesUnavailableError("a position is of another pool than the locker's")
    lower, upper = ((packed >> shift) % 2**_TICK_BITS for shift in (8, 8 + _TICK_BITS))
    return _signed(lower), _signed(upper)


def _signed(tick: int) -> int:
    return tick - 2**_TICK_BITS if tick >> (_TICK_BITS - 1) else tick


def _owed(position: dict[str, Any], growth: dict[str, Any]) -> CurrencyAmounts:
    """Return the fees owed to a position, rounded down. Fee growth is stored modulo 2^256 and wraps."""
    first, second = (
        (growth[f"feeGrowthInside{index}X128"] - position[f"feeGrowthInside{index}LastX128"]) % 2**256
        * position["liquidity"]
        // 2**128
        for index in (0, 1)
    )  # fmt: skip
    return CurrencyAmounts(first, second)


def _currency(address: str, decimals: ViewResult, symbol: ViewResult) -> Currency:
    return Currency(
        address=address,
        symbol=symbol["symbol"] if symbol else None,
        decimals=_required(decimals, "decimals")["decimals"],
    )


def _required(result: ViewResult, function: str) -> dict[str, Any]:
    if result is None:
        raise FeesUnavailableError(f"a contract returns nothing for {function}")
    return result


def _require_address(address: str | None, key: str) -> str:
    if address is None:
        raise UnknownContractError(key)
    return address
