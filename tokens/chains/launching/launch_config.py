"""What is to be launched, in the units of the contracts: what `launch_calls` encodes.

Addresses are EIP-55, amounts wei, durations seconds, shares bps (10,000 are all), fees parts per million. Ticks are as
if the launched token were token0. Source: the structs of the v4 factory and its extensions.
"""

from dataclasses import dataclass

from tokens.chains.registry.chains import Position
from tokens.chains.types import FeeCurrency

# Every token of v4 has this many wei, and 18 decimals.
TOKEN_SUPPLY = 10**29
ALL_BPS = 10_000
# The factory gives at most this share of the supply to all extensions together.
MAX_EXTENSION_BPS = 9_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Reward:
    """Who gets a share of the liquidity fees, in which currency, and who may change that."""

    admin: str
    recipient: str
    bps: int
    currency: FeeCurrency


@dataclass(frozen=True, kw_only=True, slots=True)
class StaticFee:
    """Fees of the static hook, by the currency that is paid in."""

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
    """The part of the supply that the vault holds for its admin."""

    admin: str
    bps: int
    lockup: int
    vesting: int


@dataclass(frozen=True, kw_only=True, slots=True)
class AirdropShare:
    """The part of the supply that the entries of a Merkle tree may claim."""

    admin: str
    bps: int
    merkle_root: str
    lockup: int
    vesting: int


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnBuy:
    """A purchase within the launch, paid in the native coin by whoever sends it."""

    wei: int
    recipient: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PresaleTerms:
    """The sale that comes before the launch; goals are in wei of the native coin."""

    bps: int
    min_goal: int
    max_goal: int
    duration: int
    recipient: str
    lockup: int
    vesting: int
    # Who may buy; empty is anybody.
    allowlist: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchConfig:
    """One launch of generation v4. `metadata` and `context` are the very texts that go on chain."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class ContractCall:
    """A call to a contract: `data` is 0x-prefixed hex, `value` wei of the native coin."""

    to: str
    data: str
    value: int
