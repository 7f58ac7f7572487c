"""What happens to a token after its launch, from the logs of a mined transaction: pure, no I/O.

Anybody can emit any of these logs. Whoever reads them believes one only where its emitter is vouched for, as its
`Source` says, by the registry or by a token that is known; a log of any other emitter is nobody's, however it looks.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.abi.codec import Event, Log
from tokens.chains.evm.generations.mined_transactions import MinedTransaction
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import EventLog

_ZERO_ADDRESS = "0x" + "00" * 20


class EventKind(StrEnum):
    """What happened."""

    ADMIN_UPDATED = "admin_updated"
    IMAGE_UPDATED = "image_updated"
    METADATA_UPDATED = "metadata_updated"
    VERIFIED = "verified"
    REWARD_RECIPIENT_UPDATED = "reward_recipient_updated"
    REWARD_ADMIN_UPDATED = "reward_admin_updated"
    FEE_PREFERENCE_UPDATED = "fee_preference_updated"
    # v4: the locker took fees out of the pool and stored them in the fee locker, where they wait for their owners.
    FEES_COLLECTED = "fees_collected"
    # Fees reached those to whom they belong.
    FEES_CLAIMED = "fees_claimed"
    # v4: the launchpad's own part, which the hooks send to the factory.
    TEAM_FEES_CLAIMED = "team_fees_claimed"
    VAULT_CLAIMED = "vault_claimed"
    VAULT_ADMIN_UPDATED = "vault_admin_updated"
    AIRDROP_CLAIMED = "airdrop_claimed"
    AIRDROP_ROOT_UPDATED = "airdrop_root_updated"
    AIRDROP_ADMIN_UPDATED = "airdrop_admin_updated"


class Source(StrEnum):
    """Who may emit an event: the token, the locker that its launch named, its pool, or a role of the registry."""

    ITSELF = "itself"
    ITS_LOCKER = "its_locker"
    FEE_LOCKER = "fee_locker"
    FACTORY = "factory"
    VAULT = "vault"
    AIRDROP = "airdrop"
    # Solana: the program tells for it.
    POOL = "pool"


# Of these the registry does not know the emitters: every token, and lockers that hold one token each.
TOKENS_OWN = (Source.ITSELF, Source.ITS_LOCKER)

# Layouts with names of their own share a kind. What the launched token is called in an event stands in `abis`.
_KINDS: Mapping[str, tuple[EventKind, Source]] = {
    "UpdateAdmin(address,address)": (EventKind.ADMIN_UPDATED, Source.ITSELF),
    "UpdateImage(string)": (EventKind.IMAGE_UPDATED, Source.ITSELF),
    "UpdateMetadata(string)": (EventKind.METADATA_UPDATED, Source.ITSELF),
    "Verified(address,address)": (EventKind.VERIFIED, Source.ITSELF),
    "RewardRecipientUpdated(address,uint256,address,address)": (
        EventKind.REWARD_RECIPIENT_UPDATED,
        Source.ITS_LOCKER,
    ),
    "RewardAdminUpdated(address,uint256,address,address)": (EventKind.REWARD_ADMIN_UPDATED, Source.ITS_LOCKER),
    "FeePreferenceUpdated(address,uint256,uint8,uint8)": (EventKind.FEE_PREFERENCE_UPDATED, Source.ITS_LOCKER),
    # v4, v3.1, and v2 with v3.0.
    "ClaimedRewards(address,uint256,uint256,uint256[],uint256[])": (EventKind.FEES_COLLECTED, Source.ITS_LOCKER),
    "ClaimedRewards(uint256,address,address,address,address,address,uint256,uint256,uint256,uint256,uint256,uint256)": (
        EventKind.FEES_CLAIMED,
        Source.ITS_LOCKER,
    ),
    "ClaimedRewards(address,address,address,uint256,uint256,uint256,uint256)": (
        EventKind.FEES_CLAIMED,
        Source.ITS_LOCKER,
    ),
    # v0 and v1.
    "ClaimedFees(address,address,address,uint256,uint256,uint256,uint256)": (
        EventKind.FEES_CLAIMED,
        Source.ITS_LOCKER,
    ),
    "ClaimTokens(address,address,uint256)": (EventKind.FEES_CLAIMED, Source.FEE_LOCKER),
    "ClaimTeamFees(address,address,uint256)": (EventKind.TEAM_FEES_CLAIMED, Source.FACTORY),
    "AllocationClaimed(address,uint256,uint256)": (EventKind.VAULT_CLAIMED, Source.VAULT),
    # v3.1 has a word of its own for it.
    "AllocationUnlocked(address,uint256,uint256)": (EventKind.VAULT_CLAIMED, Source.VAULT),
    "AllocationAdminUpdated(address,address,address)": (EventKind.VAULT_ADMIN_UPDATED, Source.VAULT),
    "AirdropClaimed(address,address,uint256,uint256)": (EventKind.AIRDROP_CLAIMED, Source.AIRDROP),
    "AirdropMerkleRootUpdated(address,bytes32,bytes32)": (EventKind.AIRDROP_ROOT_UPDATED, Source.AIRDROP),
    "AirdropAdminUpdated(address,address,address)": (EventKind.AIRDROP_ADMIN_UPDATED, Source.AIRDROP),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Layout:
    event: Event
    kind: EventKind
    source: Source


def _layouts() -> dict[str, _Layout]:
    events = [event for overloads in codec.load("after_launch").events.values() for event in overloads]
    found = {}
    for event in events:
        kind, source = _KINDS[event.signature]
        found[event.topic0] = _Layout(event=event, kind=kind, source=source)
    return found


_BY_TOPIC = _layouts()

# topic0 -> who may emit the event.
SOURCES: Mapping[str, Source] = {topic0: layout.source for topic0, layout in _BY_TOPIC.items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class FeePayment:
    """Fees that somebody was paid, in the smallest unit of a currency."""

    recipient: str
    currency: str
    amount: int


@dataclass(frozen=True, kw_only=True, slots=True)
class DecodedEvent:
    """A decoded log, which names the launched token by its address or by the currencies of its pool.

    Where its source is a fee locker or a factory, `token` is a currency, which may be anybody's token.
    """

    kind: EventKind
    source: Source
    emitter: str
    log_index: int
    # Name -> value, as `abi.Event.decode` gives them.
    arguments: Mapping[str, Any]
    token: str | None = None
    # v3.1: the LP NFT.
    position_id: int | None = None
    # v0 to v3.1: the pool's currencies in their order; v0 and v1 name zero addresses where the locker's fee is 0.
    pair: tuple[str, str] | None = None

    @property
    def names_no_pair(self) -> bool:
        """Whether the event leaves the pool's currencies out, so that only its locker tells the token."""
        return self.pair is not None and set(self.pair) == {_ZERO_ADDRESS}


def find_logs(mined: MinedTransaction) -> tuple[EventLog, ...]:
    """The logs of a transaction that would be events after launch, were their emitters vouched for; in log order.

    Those of the registry's contracts are vouched for here: of these events a filter asks nobody else.
    """
    return tuple(
        EventLog(emitter=codec.checksum(log["address"]), log_index=int(log["logIndex"], 16), raw=log)
        for log in mined.logs
        if log["topics"] and (layout := _BY_TOPIC.get(log["topics"][0])) and _may_emit(mined.chain, log, layout.source)
    )


def _may_emit(chain: ChainInfo, log: Log, source: Source) -> bool:
    return source in TOKENS_OWN or chain.role(log["address"].lower()) == source.value


def source_of(log: EventLog) -> Source:
    """Who may emit the event."""
    return _BY_TOPIC[log.raw["topics"][0]].source


def decode(log: EventLog) -> DecodedEvent:
    """The event. Raises LogUndecodable."""
    layout = _BY_TOPIC[log.raw["topics"][0]]
    arguments = layout.event.decode(log.raw)
    return DecodedEvent(
        kind=layout.kind,
        source=layout.source,
        emitter=log.emitter,
        log_index=log.log_index,
        arguments=arguments,
        **_subject(layout.source, log.emitter, arguments),
    )


def _subject(source: Source, emitter: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    if source is Source.ITSELF:
        return {"token": emitter}
    if "token" in arguments:
        return {"token": arguments["token"]}
    return {"pair": (arguments["token0"], arguments["token1"]), "position_id": arguments.get("lpTokenId")}


def read_payments(event: DecodedEvent, *, pair: tuple[str, str] | None) -> tuple[FeePayment, ...]:
    """Who was paid which fees by an event, each recipient once a currency; nothing that is 0.

    `pair` are the currencies of the token's pool in their order, for events that leave them out.

    The last two arguments of the events of v0 to v3.0 are named totalAmount1, totalAmount0, yet hold the totals of
    currency 0 and currency 1: `abis` name them total0 and total1. What a total has beyond the amount went to the
    launchpad's team, whose address the event does not tell.
    """
    values = event.arguments
    if event.kind is EventKind.TEAM_FEES_CLAIMED:
        return _payments([(values["recipient"], values["token"], values["amount"])])
    if event.kind is not EventKind.FEES_CLAIMED:
        return ()
    if event.source is Source.POOL:
        return _payments((values["claimer"], mint, amount) for mint, amount in values["amounts"].items())
    if event.source is Source.FEE_LOCKER:
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
