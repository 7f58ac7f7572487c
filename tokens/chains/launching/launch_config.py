"""A launch of generation v4 in the units of the contracts: the input of `launch_calls`.

Addresses are EIP-55, amounts wei, durations seconds, shares bps (10,000 are all), fees parts per million. Ticks are as
if the launched token were token0. Source: the structs of the v4 factory and its extensions.
"""

from dataclasses import dataclass

from tokens.chains.registry.chains import Position
from tokens.chains.types import FeeCurrency

# Supply in wei of every v4 token, which has 18 decimals.
TOKEN_SUPPLY = 10**29
ALL_BPS = 10_000
# Maximum share of the supply that the factory gives to all extensions together.
MAX_EXTENSION_BPS = 9_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Reward:
    """A share of the liquidity fees: recipient, currency, and the admin that may change both."""

    admin: str
    recipient: str
    bps: int
    currency: FeeCurrency


@dataclass(frozen=True, kw_only=True, slots=True)
class StaticFee:
    """Fees of the static hook, by the currency paid in."""

    clanker: int
    paired: int


@dataclass(frozen=True, kw_only=True, slots=True)
class DynamicFee:
    """Fees of the dynamic hook; periods are in seconds, the tick filter is in ticks, the decay in bps."""

    base: int
    maximum: int
    reference_tick_filter_period: int
    reset_period: int
    reset_tick_filter: int
    fee_control_numerator: int
    decay_filter_bps: int


@dataclass(frozen=True, kw_only=True, slots=True)
class VaultShare:
    """The part of the supply held by the vault for its admin."""

    admin: str
    bps: int
    lockup: int
    vesting: int


@dataclass(frozen=True, kw_only=True, slots=True)
class AirdropShare:
    """The part of the supply claimable by the entries of a Merkle tree."""

    admin: str
    bps: int
    merkle_root: str
    lockup: int
    vesting: int


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnBuy:
    """A purchase within the launch, paid in the native coin by the sender of the transaction."""

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
    # Allow-list of buyers; empty allows all.
    allowlist: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchConfig:
    """One launch of generation v4. `metadata` and `context` are the exact texts written on chain."""

    chain_id: int
    name: str
    symbol: str
    admin: str
    image: str
    metadata: str
    context: str
    paired_token: str
    tick: int
    positions: tuple[Position, ...]
    fees: StaticFee | DynamicFee
    rewards: tuple[Reward, ...]
    vault: VaultShare | None = None
    airdrop: AirdropShare | None = None
    own_buy: OwnBuy | None = None
    presale: PresaleTerms | None = None
