"""Frozen records for decoded launches, blocks and presales that the chain library returns."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from tokens.chains.abi.codec import AbiFunction
from tokens.chains.pool_types import LiquidityChange, Swap, UndecodableLog
from tokens.chains.registry.chains import Position
from tokens.chains.registry.launchpads import TokenEventDeclaration

WEI_PER_TOKEN = 10**18

# Uniswap v3 pools and the v4 hooks count fees in parts per million; the API uses bps.
PARTS_PER_BPS = 100

FeeCurrency = Literal["Both", "Paired", "Clanker"]
# The v4 locker's fee preference enumeration, in its order.
_FEE_PREFERENCES: tuple[FeeCurrency, ...] = ("Both", "Paired", "Clanker")


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """A token's pool. `tick` is the starting tick as if the launched token were token0."""

    # 20 bytes up to generation v3.1, EIP-55; the 32-byte pool id for v4, lower case.
    address: str | None
    paired_token: str
    pair_symbol: str | None
    pair_decimals: int | None
    tick: int | None
    tick_spacing: int | None
    hook: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FeeRecipient:
    """A recipient's liquidity fee share, in bps of the pool's payout."""

    admin: str
    recipient: str
    bps: int
    token: FeeCurrency


@dataclass(frozen=True, kw_only=True, slots=True)
class LiquidityFees:
    """Liquidity fees in bps: two rates for a static hook, a range for a dynamic one."""

    type: Literal["static", "dynamic"]
    clanker_fee: float | None = None
    paired_fee: float | None = None
    base_fee: float | None = None
    max_fee: float | None = None
    hook: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Lockup:
    """Locked from `started_at` (Unix seconds) for `lock_duration` seconds, then vesting for `vest_duration` seconds."""

    started_at: int
    lock_duration: int
    vest_duration: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Vault:
    """Part of the supply, in wei, that the vault holds back."""

    amount: int
    lockup: Lockup


@dataclass(frozen=True, kw_only=True, slots=True)
class Airdrop:
    """Part of the supply, in wei, that a Merkle tree's entries may claim. v1 airdrop contracts have no admin."""

    amount: int
    merkle_root: str
    admin: str | None
    lockup: Lockup


@dataclass(frozen=True, kw_only=True, slots=True)
class DevBuy:
    """Tokens bought inside the launch transaction: `amount` in token wei, `amount_eth` in wei of the native coin."""

    amount: int
    amount_eth: int | None
    recipient: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SniperTax:
    """A fee that falls from the first to the second rate (parts per million) within `seconds_to_decay` seconds."""

    starting_fee: int
    ending_fee: int
    seconds_to_decay: int


class MissingValue(NamedTuple):
    """A launch value that no log has: the result of a view at the launch's block, or a part of the result.

    If several values are for one field, the first usable one counts. With `expected`, the launch counts only if the
    set contains the value.
    """

    field: str
    contract: str
    function: AbiFunction
    arguments: tuple[Any, ...]
    result: tuple[str | int, ...]
    expected: frozenset[object] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """A decoded launch: one TokenCreated from a registered factory, or one pool with a registered launch config.

    Addresses are EIP-55 or base58, hashes lower-case hex, amounts in the smallest unit, times Unix seconds. None is
    unknown. On Solana a block is a slot without a hash, because only finalized slots are read.
    """

    chain_id: int
    generation: str
    token: str
    tx_hash: str
    log_index: int
    block_number: int
    block_hash: str
    block_time: int
    factory: str
    name: str
    symbol: str
    supply: int | None
    # Part of the supply for v4 extensions; the rest is liquidity. None for other generations.
    extensions_supply: int | None = None
    admin: str | None
    msg_sender: str | None
    requestor_address: str | None = None
    requestor_fid: int | None = None
    cast_hash: str | None = None
    image: str | None = None
    metadata: str | None = None
    context: str | None = None
    locker: str | None = None
    # The LP NFT up to v3.1. The v4 locker holds several with consecutive ids; `first_position_id` is the first of them.
    position_id: int | None = None
    first_position_id: int | None = None
    presale_id: int | None = None
    pool: Pool | None
    fees: LiquidityFees | None = None
    fee_recipients: tuple[FeeRecipient, ...] = ()
    vault: Vault | None = None
    airdrop: Airdrop | None = None
    dev_buy: DevBuy | None = None
    sniper_tax: SniperTax | None = None
    positions: tuple[Position, ...] = ()
    # Tokens with compiled layouts always have 18; declared launches have the contract's decimals.
    decimals: int = 18
    # URI for the document with the token's image, description and links.
    uri: str | None = None
    # The bonding curve that is the pool. Solana: the account with its terms. EVM: its contract.
    curve_config: str | None = None
    # A pair that was created with the token, and into which its curve graduates.
    next_pool: str | None = None
    # The ERC-721 token whose owner is the creator, as `contract/id`.
    nft: str | None = None
    # Whether a declared layout decoded the launch, and the values whose views are still to be called.
    is_declared: bool = False
    missing: tuple[MissingValue, ...] = ()

    @property
    def is_conditional(self) -> bool:
        """Whether the launch counts only if a missing value is as expected."""
        return bool(self.missing) and any(value.expected is not None for value in self.missing)


class InitializedPool(NamedTuple):
    """A v4 pool that a transaction created. Currencies are EIP-55, zero for the native coin; None is no hook."""

    currency0: str
    currency1: str
    hook: str | None
    # As `Swap.sqrt_price` in `pool_types`.
    sqrt_price: int


@dataclass(frozen=True, kw_only=True, slots=True)
class EventLog:
    """A log shaped like an event after launch; it is not trusted until its emitter (EIP-55) is verified."""

    emitter: str
    log_index: int
    # The log as JSON-RPC returns it.
    raw: Mapping[str, Any]
    # The launchpad's declaration; None for a compiled event. Launchpads that share contracts get one record each.
    declared: TokenEventDeclaration | None = None
    # The pool that the event names, if the transaction created this pool.
    initialized_pool: InitializedPool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolClaim:
    """Trading fees that a Solana pool paid out, from the event that its program emits by a self-call.

    `log_index` counts the transaction's instructions, inner ones included, from 0.
    """

    program: str
    pool: str
    log_index: int
    paid_to: Literal["creator", "partner"]
    claimer: str
    # Mint -> smallest units, for the pool's two mints, zero included.
    amounts: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenState:
    """The fields of a launched token that may have changed since launch, as in `Launch`. None means not read."""

    token: str
    admin: str | None = None
    image: str | None = None
    metadata: str | None = None
    verified: bool | None = None
    fee_recipients: tuple[FeeRecipient, ...] | None = None
    airdrop: Airdrop | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StateAtBlock:
    """The launched tokens' state after a block, which a reorg may still drop."""

    block_number: int
    block_hash: str
    tokens: tuple[TokenState, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TransactionFacts:
    """One mined transaction's launches and events, in log order."""

    tx_hash: str
    block_number: int
    block_hash: str
    # Unix seconds.
    block_time: int
    launches: tuple[Launch, ...]
    event_logs: tuple[EventLog, ...]
    pool_claims: tuple[PoolClaim, ...] = ()
    # Undecodable launch logs.
    undecodable: tuple[UndecodableLog, ...] = ()
    # Whether a reorg can no longer drop the transaction.
    final: bool = False
    # The launched tokens' state, if the transaction was read by hash: other readers get all later events anyway.
    state: StateAtBlock | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is no launch and no event, not even an undecodable one: no launch's conditions hold."""
        return not (self.launches or self.event_logs or self.pool_claims or self.undecodable)


def to_bps(parts_per_million: int) -> float:
    """Convert parts per million to bps; the result is an int where it is whole."""
    whole, rest = divmod(parts_per_million, PARTS_PER_BPS)
    return parts_per_million / PARTS_PER_BPS if rest else whole


def fee_currency(preference: int) -> FeeCurrency:
    """Return the currency that the v4 locker pays for this preference; an unknown preference pays both."""
    return _FEE_PREFERENCES[preference] if 0 <= preference < len(_FEE_PREFERENCES) else "Both"


def fee_preference(currency: FeeCurrency) -> int:
    """Return the v4 locker's number for this currency: the inverse of `fee_currency`."""
    return _FEE_PREFERENCES.index(currency)


def starting_market_cap(tick: int, *, supply: int, quote_decimals: int) -> float | None:
    """Return the market cap at launch in whole quote token units, or None on float overflow.

    `tick` is as if the launched token were token0; `supply` is in its smallest units, so its decimals don't matter.
    Source: Uniswap's price = 1.0001^tick in smallest units.
    """
    try:
        market_cap = float(1.0001**tick * (supply / WEI_PER_TOKEN) * 10.0 ** (18 - quote_decimals))
    except OverflowError:
        return None
    return market_cap if math.isfinite(market_cap) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockHeader:
    """A block header; hashes are lower-case hex, the time is in Unix seconds."""

    number: int
    hash: str
    parent_hash: str
    time: int
    # The 2048-bit bloom filter over all log addresses and topics.
    logs_bloom: int
    # The receipts trie's root; empty where the node returns none.
    receipts_root: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class RangeFacts:
    """Launches, token events and pool activity in the blocks `first` to `last`, each in chain order."""

    first: int
    last: int
    transactions: tuple[TransactionFacts, ...]
    # Empty unless pools were selected.
    swaps: tuple[Swap, ...] = ()
    liquidity_changes: tuple[LiquidityChange, ...] = ()
    # Undecodable launch and pool logs. An event after launch turns out to be undecodable only when it is stored.
    undecodable: tuple[UndecodableLog, ...] = ()
    # Only where receipts were read: blocks whose header does not prove that the receipts are complete, and blocks whose
    # receipts don't make the header's bloom filter.
    unproven: frozenset[int] = frozenset()
    odd_filters: frozenset[int] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenBalances:
    """Token balances after a block, in smallest units by account; None where none was reported."""

    block_number: int
    amounts: Mapping[str, int | None]


# Values of the presale contract's enumeration PresaleStatus.
_PRESALE_ACTIVE, _PRESALE_FAILED, _PRESALE_CLAIMABLE = 1, 4, 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Presale:
    """A presale at the newest block; times are Unix seconds, amounts wei of the native coin."""

    presale_id: int
    status: int
    # 0x-prefixed hex; it changes when the sale ends.
    salt: str
    raised: int
    min_goal: int
    ends_at: int
    # Launch deadline; None where the contract does not report it.
    launches_until: int | None

    def failure(self, *, unix_time: int) -> str:
        """Return why the presale can no longer launch, as text for the partner; empty if it can or has.

        The contract records a failure only on its next call, so `unix_time` counts as well.
        """
        if self.status == _PRESALE_CLAIMABLE:
            return ""
        if self.status == _PRESALE_FAILED:
            return "the presale has failed"
        if self.status == _PRESALE_ACTIVE and unix_time >= self.ends_at and self.raised < self.min_goal:
            return "the presale has failed: it ended below its minEthGoal"
        return "the presale has failed: its token was not launched in time" if self.is_over(unix_time=unix_time) else ""

    def is_over(self, *, unix_time: int) -> bool:
        """Return whether the launch deadline has passed."""
        return self.launches_until is not None and unix_time > self.launches_until


@dataclass(frozen=True, kw_only=True, slots=True)
class AllowlistOnChain:
    """A presale's allow-list at the newest block."""

    # 0x-prefixed hex; None if all accounts may buy.
    root: str | None
    # The presale's upper goal in wei.
    max_goal: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PresaleTermsOnChain:
    """A presale with its terms as the contract has them; addresses are EIP-55, durations in seconds."""

    sale: Presale
    name: str
    symbol: str
    image: str
    admin: str
    owner: str
    # The allow-list contract; None if all accounts may buy.
    allowlist: str | None
    max_goal: int
    lockup: int
    vesting: int
    # None before the launch.
    token: str | None
