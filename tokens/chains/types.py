"""What the chain library hands out: frozen facts about a launch, and the error families."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from config.http.json_client import Permanent, Retryable
from tokens.chains.registry.chains import Position

WEI_PER_TOKEN = 10**18

# Uniswap v3 pools and the v4 hooks count fees in parts per million; the API speaks of bps.
PARTS_PER_BPS = 100

FeeCurrency = Literal["Both", "Paired", "Clanker"]
# The v4 locker's enumeration of fee preferences, in its order.
_FEE_PREFERENCES: tuple[FeeCurrency, ...] = ("Both", "Paired", "Clanker")


class NodeUnavailable(Retryable):
    """No node of the chain gave a usable answer."""


class AskedTooMuch(NodeUnavailable):
    """No node answered in time, or all of them with more than is read: asking for less at a time may help."""


class NodeRefused(Permanent):
    """A node understood the call and answered with an error that will not go away, such as a revert."""


class WouldRevert(Permanent):
    """A transaction would be undone; `reason` is in words, `data` what the contract returned, as hex, maybe nothing."""

    def __init__(self, reason: str, *, data: str) -> None:
        super().__init__(f"the transaction would be reverted: {reason}")
        self.reason = reason
        self.data = data


class SenderTooPoor(Retryable):
    """Who is to send a transaction lacks the coins for it; nothing follows about the call itself."""


class TransactionNotFound(Retryable):
    """The chain does not know the transaction, or has not mined it yet."""


class LaunchNotFound(Permanent):
    """The transaction is there, and holds neither a launch by a known factory nor an event that concerns us.

    Or it was reverted.
    """


class LogUndecodable(Permanent):
    """A log of a known contract does not have the layout that its event says."""


class FeesUnreadable(Permanent):
    """The chain has no answer to what fees a position has, or to whom they belong."""


class NotOffered(Permanent):
    """The chain has no contract for what is to be launched; `field` is the part of an order that asks for it."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


class ContractUnknown(FeesUnreadable):
    """The registry lacks a contract of the chain that would have to be asked; `key` is its name there."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the registry has no {key} of the chain")
        self.key = key


class SignerUnavailable(Retryable):
    """The signer of a wallet gave no answer, or asks for patience."""


class SignerRefused(Permanent):
    """There is no usable key of the wallet, or the signer did not sign what it was asked to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """Where a token trades. `tick` is the starting tick as if the launched token were token0."""

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
    """Who gets a share of the liquidity fees, in bps of what the pool pays out."""

    admin: str
    recipient: str
    bps: int
    token: FeeCurrency


@dataclass(frozen=True, kw_only=True, slots=True)
class Fees:
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
    """Part of the supply, in wei, that the entries of a Merkle tree may claim. Generation v1 of it has no admin."""

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
    """A fee that falls from the first to the second rate (parts per million) within so many seconds."""

    starting_fee: int
    ending_fee: int
    seconds_to_decay: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """One TokenCreated of a known factory, or a pool of a known config, with what its transaction and node tell of it.

    Addresses are EIP-55 or base58, hashes lower-case hex, amounts in the smallest unit, times Unix seconds. None is
    unknown. On Solana a block is a slot, and has no hash here: what is read of it is final.
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
    # How much of it the extensions of v4 got, which is all that is not liquidity; None for other generations.
    extensions_supply: int | None = None
    admin: str | None
    msg_sender: str | None
    requestor_address: str | None
    requestor_fid: int | None = None
    cast_hash: str | None = None
    image: str | None = None
    metadata: str | None = None
    context: str | None = None
    locker: str | None = None
    # The LP NFT up to v3.1. The v4 locker holds several with consecutive ids, of which the other one is the first.
    position_id: int | None = None
    first_position_id: int | None = None
    presale_id: int | None = None
    pool: Pool | None
    fees: Fees | None = None
    fee_recipients: tuple[FeeRecipient, ...] = ()
    vault: Vault | None = None
    airdrop: Airdrop | None = None
    dev_buy: DevBuy | None = None
    sniper_tax: SniperTax | None = None
    positions: tuple[Position, ...] = ()
    # What the factories of EVM chains launch has always 18.
    decimals: int = 18
    # Solana: where a document describes the token; image, description and links stand there alone.
    uri: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EventLog:
    """A log that looks like an event after launch: it says nothing until its emitter (EIP-55) is vouched for."""

    emitter: str
    log_index: int
    # The log as JSON-RPC tells it.
    raw: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolClaim:
    """Trading fees that a pool of Solana paid out, as its program told by calling itself.

    `log_index` counts the instructions of the transaction, with the inner ones, from 0.
    """

    program: str
    pool: str
    log_index: int
    paid_to: Literal["creator", "partner"]
    claimer: str
    # Mint -> its smallest units; both of the pool's, also where nothing was paid in one.
    amounts: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class TransactionFacts:
    """What one mined transaction holds for us; launches and events in log order, at least one of either."""

    tx_hash: str
    block_number: int
    block_hash: str
    # Unix seconds.
    block_time: int
    launches: tuple[Launch, ...]
    event_logs: tuple[EventLog, ...]
    pool_claims: tuple[PoolClaim, ...] = ()
    # Whether the chain can't drop it any more.
    final: bool = False


def bps(parts_per_million: int) -> float:
    """A fee as contracts count it, in bps; a whole number where it is one."""
    whole, rest = divmod(parts_per_million, PARTS_PER_BPS)
    return parts_per_million / PARTS_PER_BPS if rest else whole


def fee_currency(preference: int) -> FeeCurrency:
    """What the v4 locker pays to a recipient with this preference; an unknown one changes nothing, and is both."""
    return _FEE_PREFERENCES[preference] if 0 <= preference < len(_FEE_PREFERENCES) else "Both"


def fee_preference(currency: FeeCurrency) -> int:
    """How the v4 locker numbers this currency: the inverse of `fee_currency`."""
    return _FEE_PREFERENCES.index(currency)


def starting_market_cap(tick: int, *, supply: int, quote_decimals: int) -> float | None:
    """Market cap at launch in whole units of the quote token, None where it is beyond all numbers.

    `tick` is as if the launched token, which has 18 decimals, were token0; `supply` is in wei. Source: Uniswap's
    price = 1.0001^tick in smallest units.
    """
    try:
        market_cap = float(1.0001**tick * (supply / WEI_PER_TOKEN) * 10.0 ** (18 - quote_decimals))
    except OverflowError:
        return None
    return market_cap if math.isfinite(market_cap) else None


# What is read of a chain's blocks: headers, and what a run of blocks holds for us.
class BlockGone(Retryable):
    """The chain has another block, or none, where one was that had been read: it was dropped, or the node lags."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockHeader:
    """A block; hashes are lower-case hex, the time is in Unix seconds."""

    number: int
    hash: str
    parent_hash: str
    time: int
    # The 2048 bits of its filter over the addresses and topics of all logs.
    logs_bloom: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What blocks from the first to the last hold for us: transactions in the chain's order."""

    first: int
    last: int
    transactions: tuple[TransactionFacts, ...]
