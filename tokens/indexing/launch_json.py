"""JSON that a token stores about its launch, and that its record has as stored."""

from typing import Annotated, Any, Literal, TypedDict

from config.parsing.json_rules import Component
from config.parsing.response_types import Timestamp, properties_schema

_Duration = Annotated[int, "Seconds, at most 2^53 - 1."]
_WholeText = Annotated[str, "Wei, in decimal digits."]


class SocialMediaLink(TypedDict):
    """Page about the token."""

    platform: str
    url: str


class TokenMetadata(TypedDict):
    """Texts and links from the launcher."""

    auditUrls: list[Annotated[str, "An http, https or ipfs URL."]]
    description: str | None
    socialMediaUrls: list[SocialMediaLink]


class SocialLink(TypedDict):
    """One of the token's links."""

    name: str
    link: str


class ContextFields(TypedDict):
    """As written by the launcher, not verified; further keys are passed through."""

    interface: str | None
    platform: str | None
    messageId: str | None
    id: str | None


SocialContext = Annotated[
    dict[str, Any], Component("SocialContext", properties_schema(ContextFields) | {"additionalProperties": True})
]


class DeployConfig(TypedDict):
    """Purchase and vault of the launch."""

    devBuyAmount: Annotated[str | None, "Wei of the native coin; 0 without a purchase."]
    lockupPercentage: Annotated[float | None, "Percent of the supply in the vault."]
    vestingUnlockDate: Annotated[Timestamp | None, "When the vault's lock ends."]


class PoolConfig(TypedDict):
    """Pool of the launch."""

    pairedToken: str | None
    tickIfToken0IsNewToken: Annotated[int | None, "Starting tick if the launched token were token0."]
    tickSpacing: int | None
    hook: str | None


class FeeRecipient(TypedDict):
    """Recipient of a share of the pool's fees."""

    admin: str
    recipient: str
    bps: int
    token: Literal["Both", "Paired", "Clanker"]


class LaunchFees(TypedDict):
    """Fees of the pool, with their recipients."""

    type: Literal["static", "dynamic"]
    clankerFee: Annotated[float | None, "Bps."]
    pairedFee: Annotated[float | None, "Bps."]
    baseFee: Annotated[float | None, "Bps."]
    maxFee: Annotated[float | None, "Bps."]
    hook_address: str | None
    recipients: list[FeeRecipient]


class LaunchLockup(TypedDict):
    """Times of a lock."""

    startedAt: Timestamp | None
    lockDuration: _Duration
    vestDuration: Annotated[int, "Seconds after the lock, at most 2^53 - 1."]


class LaunchVault(TypedDict):
    """Locked part of the supply."""

    amount: _WholeText
    lockup: LaunchLockup


class LaunchAirdrop(TypedDict):
    """Part of the supply for the entries of a Merkle tree."""

    amount: _WholeText
    merkleRoot: str
    admin: str | None
    lockup: LaunchLockup


class LaunchDevBuy(TypedDict):
    """Purchase in the launch's transaction."""

    amount: _WholeText
    amountEth: Annotated[str | None, "Wei."]
    recipient: str | None


class SniperTax(TypedDict):
    """Fee of the first trades, which falls with time."""

    startingFee: Annotated[int, "Parts per million."]
    endingFee: Annotated[int, "Parts per million."]
    secondsToDecay: int


class LaunchPosition(TypedDict):
    """Range of ticks with a part of the supply."""

    tickLower: int
    tickUpper: int
    positionBps: int


class Extensions(TypedDict):
    """Parts of the launch beside its pool."""

    fees: LaunchFees | None
    vault: LaunchVault | None
    airdrop: LaunchAirdrop | None
    devBuy: LaunchDevBuy | None
    sniperTax: SniperTax | None
    positions: list[LaunchPosition] | None
