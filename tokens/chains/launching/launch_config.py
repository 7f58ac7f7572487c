"""A v4 launch in the contracts' units: the input for `launch_calls`.

Addresses are EIP-55, amounts wei, durations seconds, shares bps (10,000 are all), fees parts per million. Ticks are as
if the launched token were token0. Source: the structs in the v4 factory and its extensions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar

from tokens.chains.launching.merkle import MerkleTree, build_tree
from tokens.chains.registry.chains import Position, Preset
from tokens.chains.types import FeeCurrency

# Supply in wei; every v4 token has this supply and 18 decimals.
TOKEN_SUPPLY = 10**29
ALL_BPS = 10_000
WEI_PER_BPS = TOKEN_SUPPLY // ALL_BPS
# Maximum supply share that the factory gives to all extensions together.
MAX_EXTENSION_BPS = 9_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Reward:
    """A liquidity fee share: recipient, currency, and the admin that may change both."""

    admin: str
    recipient: str
    bps: int
    currency: FeeCurrency


@dataclass(frozen=True, kw_only=True, slots=True)
class StaticFee:
    """Static hook fees, by the currency paid in."""

    kind: ClassVar[str] = "static"
    clanker: int
    paired: int


@dataclass(frozen=True, kw_only=True, slots=True)
class DynamicFee:
    """Dynamic hook fees; periods are in seconds, the tick filter is in ticks, the decay in bps."""

    kind: ClassVar[str] = "dynamic"
    base: int
    maximum: int
    reference_tick_filter_period: int
    reset_period: int
    reset_tick_filter: int
    fee_control_numerator: int
    decay_filter_bps: int


@dataclass(frozen=True, kw_only=True, slots=True)
class VaultShare:
    """The supply share that the vault holds for its recipient."""

    recipient: str
    bps: int
    lockup: int
    vesting: int


@dataclass(frozen=True, kw_only=True)
class AirdropShare:
    """The supply share that a Merkle tree's entries may claim: (hex account, wei) pairs in their order."""

    # Too many to print.
    entries: tuple[tuple[str, int], ...] = field(repr=False)
    lockup: int
    vesting: int

    @cached_property
    def total(self) -> int:
        """Return the entries' sum in wei."""
        return sum(wei for _, wei in self.entries)

    @property
    def bps(self) -> int:
        """Return the supply share that holds the total; rounded up, so that every entry is funded."""
        return -(-self.total // WEI_PER_BPS)

    @cached_property
    def tree(self) -> MerkleTree:
        """Return the entries' Merkle tree; a large one takes seconds of CPU time, once."""
        return build_tree(self.entries)


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnBuy:
    """A purchase within the launch, which the transaction's sender pays in the native coin."""

    wei: int
    recipient: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PresaleTerms:
    """The sale before the launch; goals are in wei of the native coin."""

    bps: int
    min_goal: int
    max_goal: int
    duration: int
    recipient: str
    lockup: int
    vesting: int
    # Buyer allow-list; empty allows all buyers.
    allowlist: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Liquidity:
    """The pool's starting tick, and the positions that hold the supply from there on."""

    tick: int
    positions: tuple[Position, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchConfig:
    """One v4 launch: the form between a request body and the factory's call."""

    chain_id: int
    name: str
    symbol: str
    admin: str
    image: str = ""
    # JSON objects whose keys with a value are written on chain, in this order.
    metadata: Mapping[str, Any] = field(default_factory=dict)
    context: Mapping[str, Any] = field(default_factory=dict)
    preset: Preset
    paired_token: str
    # In whole units of the paired token.
    market_cap: Decimal
    # None until the paired token's decimals are read from the chain.
    liquidity: Liquidity | None
    fees: StaticFee | DynamicFee
    rewards: tuple[Reward, ...]
    vault: VaultShare | None = None
    airdrop: AirdropShare | None = None
    own_buy: OwnBuy | None = None
    presale: PresaleTerms | None = None
