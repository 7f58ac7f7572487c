"""Events of tokens after their launch, decoded from the logs of a mined transaction: pure, no I/O.

Any contract can emit any of these logs. A log is trusted only if its emitter is the one that its `EventSource`
requires: a contract of the registry, an indexed token or its locker. Logs of other emitters are ignored.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.abi.codec import AbiEvent, Log
from tokens.chains.addresses import checksum_address
from tokens.chains.evm.generations.mined_transactions import MinedTransaction
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import EventLog

_ZERO_ADDRESS = "0x" + "00" * 20


class EventKind(StrEnum):
    """The kinds of events after launch."""

    ADMIN_UPDATED = "admin_updated"
    IMAGE_UPDATED = "image_updated"
    METADATA_UPDATED = "metadata_updated"
    VERIFIED = "verified"
    REWARD_RECIPIENT_UPDATED = "reward_recipient_updated"
    REWARD_ADMIN_UPDATED = "reward_admin_updated"
    FEE_PREFERENCE_UPDATED = "fee_preference_updated"
    # v4: the locker collected fees from the pool and stored them in the fee locker for their recipients.
    FEES_COLLECTED = "fees_collected"
    # Fees were paid to their recipients.
    FEES_CLAIMED = "fees_claimed"
    # v4: the launchpad's own share, which the hooks transfer to the factory.
    TEAM_FEES_CLAIMED = "team_fees_claimed"
    VAULT_CLAIMED = "vault_claimed"
    VAULT_ADMIN_UPDATED = "vault_admin_updated"
    AIRDROP_CLAIMED = "airdrop_claimed"
    AIRDROP_ROOT_UPDATED = "airdrop_root_updated"
    AIRDROP_ADMIN_UPDATED = "airdrop_admin_updated"


class EventSource(StrEnum):
    """Trusted emitters of an event: the token, the locker that its launch named, its pool, or a registry role."""

    ITSELF = "itself"
    ITS_LOCKER = "its_locker"
    FEE_LOCKER = "fee_locker"
    FEE_SPENDER = "fee_spender"
    FACTORY = "factory"
    VAULT = "vault"
    AIRDROP = "airdrop"
    # Solana: the program emits the event for the pool.
    POOL = "pool"


# The registry does not list emitters of these: every token, and lockers that hold a single token's position.
UNREGISTERED_SOURCES = (EventSource.ITSELF, EventSource.ITS_LOCKER)

# Layouts with names of their own share a kind. `abi/json` has one common name for the launched token's field.
_KINDS: Mapping[str, tuple[EventKind, EventSource]] = {
    "UpdateAdmin(address,address)": (EventKind.ADMIN_UPDATED, EventSource.ITSELF),
    "UpdateImage(string)": (EventKind.IMAGE_UPDATED, EventSource.ITSELF),
    "UpdateMetadata(string)": (EventKind.METADATA_UPDATED, EventSource.ITSELF),
    "Verified(address,address)": (EventKind.VERIFIED, EventSource.ITSELF),
    "RewardRecipientUpdated(address,uint256,address,address)": (
        EventKind.REWARD_RECIPIENT_UPDATED,
        EventSource.ITS_LOCKER,
    ),
    "RewardAdminUpdated(address,uint256,address,address)": (EventKind.REWARD_ADMIN_UPDATED, EventSource.ITS_LOCKER),
    # v3.1: the name of the event implies the share, see `_V31_SHARES`.
    "CreatorRewardRecipientUpdated(uint256,address,address)": (
        EventKind.REWARD_RECIPIENT_UPDATED,
        EventSource.ITS_LOCKER,
    ),
    "CreatorRewardRecipientAdminUpdated(uint256,address,address)": (
        EventKind.REWARD_ADMIN_UPDATED,
        EventSource.ITS_LOCKER,
    ),
    "InterfaceRewardRecipientUpdated(uint256,address,address)": (
        EventKind.REWARD_RECIPIENT_UPDATED,
        EventSource.ITS_LOCKER,
    ),
    "InterfaceRewardRecipientAdminUpdated(uint256,address,address)": (
        EventKind.REWARD_ADMIN_UPDATED,
        EventSource.ITS_LOCKER,
    ),
    "FeePreferenceUpdated(address,uint256,uint8,uint8)": (EventKind.FEE_PREFERENCE_UPDATED, EventSource.ITS_LOCKER),
    # v4, v3.1, and v2 with v3.0.
    "ClaimedRewards(address,uint256,uint256,uint256[],uint256[])": (EventKind.FEES_COLLECTED, EventSource.ITS_LOCKER),
    "ClaimedRewards(uint256,address,address,address,address,address,uint256,uint256,uint256,uint256,uint256,uint256)": (
        EventKind.FEES_CLAIMED,
        EventSource.ITS_LOCKER,
    ),
    "ClaimedRewards(address,address,address,uint256,uint256,uint256,uint256)": (
        EventKind.FEES_CLAIMED,
        EventSource.ITS_LOCKER,
    ),
    # v0 and v1.
    "ClaimedFees(address,address,address,uint256,uint256,uint256,uint256)": (
        EventKind.FEES_CLAIMED,
        EventSource.ITS_LOCKER,
    ),
    "ClaimTokens(address,address,uint256)": (EventKind.FEES_CLAIMED, EventSource.FEE_LOCKER),
    # Another account receives the owner's fees.
    "ClaimTokensPermissioned(address,address,address,uint256)": (EventKind.FEES_CLAIMED, EventSource.FEE_LOCKER),
    # v0 to v3.1: fees that the team collected, returned to the creators.
    "Transfer(address,address,uint256,address,address)": (EventKind.FEES_CLAIMED, EventSource.FEE_SPENDER),
    "ClaimTeamFees(address,address,uint256)": (EventKind.TEAM_FEES_CLAIMED, EventSource.FACTORY),
    "AllocationClaimed(address,uint256,uint256)": (EventKind.VAULT_CLAIMED, EventSource.VAULT),
    # v3.1 has its own name for it.
    "AllocationUnlocked(address,uint256,uint256)": (EventKind.VAULT_CLAIMED, EventSource.VAULT),
    "AllocationAdminUpdated(address,address,address)": (EventKind.VAULT_ADMIN_UPDATED, EventSource.VAULT),
    "AirdropClaimed(address,address,uint256,uint256)": (EventKind.AIRDROP_CLAIMED, EventSource.AIRDROP),
    "AirdropMerkleRootUpdated(address,bytes32,bytes32)": (EventKind.AIRDROP_ROOT_UPDATED, EventSource.AIRDROP),
    "AirdropAdminUpdated(address,address,address)": (EventKind.AIRDROP_ADMIN_UPDATED, EventSource.AIRDROP),
}

# Name of an event of v3.1 -> the `rewardIndex` that v4's events have: the sequence of the launch's recipients.
_V31_SHARES = {
    "CreatorRewardRecipientUpdated": 0,
    "CreatorRewardRecipientAdminUpdated": 0,
    "InterfaceRewardRecipientUpdated": 1,
    "InterfaceRewardRecipientAdminUpdated": 1,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Layout:
    event: AbiEvent
    kind: EventKind
    source: EventSource
    # Arguments that the name of the event stands for.
    implied: dict[str, Any]


def _layouts() -> dict[str, _Layout]:
    found = {}
    for name, overloads in codec.load_abi("after_launch").events.items():
        implied = {"rewardIndex": _V31_SHARES[name]} if name in _V31_SHARES else {}
        for event in overloads:
            kind, source = _KINDS[event.signature]
            found[event.topic0] = _Layout(event=event, kind=kind, source=source, implied=implied)
    return found


_BY_TOPIC = _layouts()

# topic0 -> trusted emitters of the event.
SOURCES_BY_TOPIC: Mapping[str, EventSource] = {topic0: layout.source for topic0, layout in _BY_TOPIC.items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class FeePayment:
    """Fees paid to one recipient, in the smallest unit of a currency."""

    recipient: str
    currency: str
    amount: int


@dataclass(frozen=True, kw_only=True, slots=True)
class DecodedEvent:
    """A decoded log, which identifies the launched token by its address, its LP NFT or the currencies of its pool.

    If its source is a fee locker, a fee spender or a factory, `token` is a currency, which may be any token.
    """

    kind: EventKind
    source: EventSource
    emitter: str
    log_index: int
    # Name -> value, as `AbiEvent.decode` returns them, and those that the name of the event stands for.
    arguments: Mapping[str, Any]
    token: str | None = None
    # v3.1: the LP NFT.
    position_id: int | None = None
    # v0 to v3.1: the pool's currencies in pool order; v0 and v1 emit zero addresses if the locker's fee is 0.
    pair: tuple[str, str] | None = None

    @property
    def names_no_pair(self) -> bool:
        """Return whether the event omits the pool's currencies, so that only its locker identifies the token."""
        return self.pair is not None and set(self.pair) == {_ZERO_ADDRESS}


def find_event_logs(mined: MinedTransaction) -> tuple[EventLog, ...]:
    """Return the logs of a transaction with the topics of events after launch, in log order.

    Emitters with a registry role are verified here. Tokens and their lockers are not: the caller has to verify them.
    """
    return tuple(
        EventLog(emitter=checksum_address(log["address"]), log_index=int(log["logIndex"], 16), raw=log)
        for log in mined.logs
        if log["topics"]
        and (layout := _BY_TOPIC.get(log["topics"][0]))
        and _may_be_trusted(mined.chain, log, layout.source)
    )


def _may_be_trusted(chain: ChainInfo, log: Log, source: EventSource) -> bool:
    return source in UNREGISTERED_SOURCES or chain.role(log["address"].lower()) == source.value


def event_source(log: EventLog) -> EventSource:
    """Return the trusted emitter of the event."""
    return _BY_TOPIC[log.raw["topics"][0]].source


def decode_event(log: EventLog) -> DecodedEvent:
    """Decode the event. Raises LogDecodingError."""
    layout = _BY_TOPIC[log.raw["topics"][0]]
    arguments = layout.event.decode(log.raw) | layout.implied
    return DecodedEvent(
        kind=layout.kind,
        source=layout.source,
        emitter=log.emitter,
        log_index=log.log_index,
        arguments=arguments,
        **_subject(layout.source, log.emitter, arguments),
    )


def _subject(source: EventSource, emitter: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    if source is EventSource.ITSELF:
        return {"token": emitter}
    if "token" in arguments:
        return {"token": arguments["token"]}
    pair = (arguments["token0"], arguments["token1"]) if "token0" in arguments else None
    return {"pair": pair, "position_id": arguments.get("lpTokenId")}


def read_payments(event: DecodedEvent, *, pair: tuple[str, str] | None) -> tuple[FeePayment, ...]:
    """Return the fees that an event paid, one entry per recipient and currency; zero amounts are omitted.

    `pair` are the currencies of the token's pool in pool order, for events that omit them.

    The last two arguments of the events of v0 to v3.0 are named totalAmount1, totalAmount0, yet contain the totals of
    currency 0 and currency 1: `abi/json` names them total0 and total1. The difference between a total and the amount
    went to the launchpad's team; its address is not in the event.
    """
    values = event.arguments
    if event.kind is EventKind.TEAM_FEES_CLAIMED or event.source is EventSource.FEE_SPENDER:
        return _payments([(values["recipient"], values["token"], values["amount"])])
    if event.kind is not EventKind.FEES_CLAIMED:
        return ()
    if event.source is EventSource.POOL:
        return _payments((values["claimer"], mint, amount) for mint, amount in values["amounts"].items())
    if event.source is EventSource.FEE_LOCKER:
        return _payments([(values["feeOwner"], values["token"], values["amountClaimed"])])
    if event.position_id is not None:
        return _payments(
            (values[f"{role}Recipient"], values[f"token{place}"], values[f"{role}Reward{place}"])
            for role in ("creator", "interface", "team")
            for place in (0, 1)
        )
    currencies = pair if event.names_no_pair else event.pair
    return _payments((values["claimer"], currency, values[f"amount{n}"]) for n, currency in enumerate(currencies or ()))


def _payments(parts: Iterable[tuple[str, str, int]]) -> tuple[FeePayment, ...]:
    amounts: defaultdict[tuple[str, str], int] = defaultdict(int)
    for recipient, currency, amount in parts:
        amounts[recipient, currency] += amount
    return tuple(
        FeePayment(recipient=recipient, currency=currency, amount=amount)
        for (recipient, currency), amount in amounts.items()
        if amount
    )
