"""Decoder for token events after launch, from the logs of a mined transaction: pure, no I/O.

Any contract can emit these logs. A log is trusted only if its emitter is the one that its `EventSource` requires: a
registry contract, an indexed token, its locker, its pool or its pool's hook. Logs from other emitters are ignored.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.abi.codec import AbiEvent, Log
from tokens.chains.abi.paths import part_at
from tokens.chains.addresses import ZERO_ADDRESS, checksum_address
from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.generations.mined_transactions import POOL_INITIALIZED, MinedTransaction
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.registry.launchpads import ChangedField, EventKey, TokenChange, TokenClaim, TokenEventDeclaration
from tokens.chains.types import EventLog, InitializedPool


class EventKind(StrEnum):
    """Kinds of token events after launch."""

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
    # Only declared launchpads have the kinds below.
    NAME_UPDATED = "name_updated"
    SYMBOL_UPDATED = "symbol_updated"
    URI_UPDATED = "uri_updated"
    # A curve graduated, or the launchpad moved the liquidity: trades go on in another pool.
    POOL_CHANGED = "pool_changed"


class EventSource(StrEnum):
    """Trusted emitters of an event: the token, the locker that its launch named, its pool, or a registry role."""

    ITSELF = "itself"
    ITS_LOCKER = "its_locker"
    FEE_LOCKER = "fee_locker"
    FEE_SPENDER = "fee_spender"
    FACTORY = "factory"
    VAULT = "vault"
    AIRDROP = "airdrop"
    # A contract that a declared launchpad names as the event's emitter.
    LAUNCHPAD = "launchpad"
    # Solana: the program emits the event for the pool. EVM: the token's own pool.
    POOL = "pool"
    # The hook of one of the token's pools.
    HOOK = "hook"


# The registry does not list these emitters: every token, and lockers that hold a single token's position.
UNREGISTERED_SOURCES = (EventSource.ITSELF, EventSource.ITS_LOCKER)

# Layouts with different names share a kind. `abi/json` has one common name for the launched token's field.
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
    # v3.1: the event's name implies the share, see `_V31_SHARES`.
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

# Field that a declared event sets -> event kind, and the argument name of the new value.
_CHANGED: Mapping[ChangedField, tuple[EventKind, str]] = {
    "creator": (EventKind.ADMIN_UPDATED, "newAdmin"),
    "image": (EventKind.IMAGE_UPDATED, "image"),
    "name": (EventKind.NAME_UPDATED, "name"),
    "symbol": (EventKind.SYMBOL_UPDATED, "symbol"),
    "uri": (EventKind.URI_UPDATED, "uri"),
    "pool": (EventKind.POOL_CHANGED, "pool"),
}

# Emitter that a declaration names -> trusted emitter; any other emitter is a launchpad contract.
_DECLARED_SOURCES = {"token": EventSource.ITSELF, "pool": EventSource.POOL, "hook": EventSource.HOOK}

# v3.1 event name -> `rewardIndex`, as v4's events have it: the recipient's index in the launch.
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
    # Arguments that the event's name implies.
    implied: dict[str, Any]


def _layouts() -> dict[str, _Layout]:
    layout_by_topic = {}
    for name, overloads in codec.load_abi("after_launch").events.items():
        implied = {"rewardIndex": _V31_SHARES[name]} if name in _V31_SHARES else {}
        for event in overloads:
            kind, source = _KINDS[event.signature]
            layout_by_topic[event.topic0] = _Layout(event=event, kind=kind, source=source, implied=implied)
    return layout_by_topic


_BY_TOPIC = _layouts()

# topic0 -> trusted emitter.
SOURCES_BY_TOPIC: Mapping[str, EventSource] = {topic0: layout.source for topic0, layout in _BY_TOPIC.items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class FeePayment:
    """Fees paid to one recipient, in a currency's smallest unit."""

    recipient: str
    currency: str
    amount: int


@dataclass(frozen=True, kw_only=True, slots=True)
class DecodedEvent:
    """A decoded log, which identifies the launched token by its address, an NFT, its pool or the pool's currencies.

    If its source is a fee locker, a fee spender or a factory, `token` is a currency, which may be any token.
    """

    kind: EventKind
    source: EventSource
    emitter: str
    log_index: int
    # Name -> value, as `AbiEvent.decode` returns them, with the arguments that the event's name implies.
    arguments: Mapping[str, Any]
    token: str | None = None
    # Set for a declared event: it counts only for this launchpad's tokens.
    launchpad: str | None = None
    # Set for a declared event: one of the token's pools, and the token's NFT as `contract/id`.
    pool: str | None = None
    nft: str | None = None
    # v3.1: the LP NFT.
    position_id: int | None = None
    # v0 to v3.1: the pool's currencies in pool order; v0 and v1 emit zero addresses if the locker's fee is 0.
    pair: tuple[str, str] | None = None

    @property
    def names_no_pair(self) -> bool:
        """Return whether the event omits the pool's currencies, so that only its locker identifies the token."""
        return self.pair is not None and set(self.pair) == {ZERO_ADDRESS}


def find_event_logs(mined: MinedTransaction) -> tuple[EventLog, ...]:
    """Return a transaction's logs that have the topics of events after launch, in log order.

    This verifies emitters with a registry role, and declared launchpads' contracts. The caller must verify tokens and
    their lockers.
    """
    event_logs = (event for log in mined.logs if log["topics"] for event in _event_logs(mined.chain, log))
    return tuple(_with_initialized_pool(log, mined) if log.declared else log for log in event_logs)


def _event_logs(chain: ChainInfo, log: Log) -> Iterator[EventLog]:
    """Yield the log as a compiled event, and as each launchpad declares it: its token decides which one counts."""
    address, topic0 = log["address"].lower(), log["topics"][0]
    layout = _BY_TOPIC.get(topic0)
    if layout and _may_be_trusted(chain, address, layout.source):
        yield _event_log(log, None)
    if chain.token_events:
        for source in ((address, topic0), ("", topic0)):
            for declared in chain.token_events.get(source, ()):
                yield _event_log(log, declared)


def _event_log(log: Log, declared: TokenEventDeclaration | None) -> EventLog:
    emitter, log_index = checksum_address(log["address"]), int(log["logIndex"], 16)
    return EventLog(emitter=emitter, log_index=log_index, raw=log, declared=declared)


def _with_initialized_pool(log: EventLog, mined: MinedTransaction) -> EventLog:
    """Return the log with the v4 pool that it names, if the transaction created this pool."""
    pool = moved_pool(log)
    created = (POOL_INITIALIZED.decode(each) for each in mined.initialized_pools if pool and each["topics"][1] == pool)
    pools = (
        InitializedPool(
            each["currency0"],
            each["currency1"],
            None if each["hooks"] == ZERO_ADDRESS else each["hooks"],
            each["sqrtPriceX96"],
        )
        for each in created
    )
    return replace(log, initialized_pool=next(pools, None))


def _may_be_trusted(chain: ChainInfo, address: str, source: EventSource) -> bool:
    return source in UNREGISTERED_SOURCES or chain.role(address) == source.value


def event_source(log: EventLog) -> EventSource:
    """Return the event's trusted emitter."""
    if log.declared:
        emitter = log.declared.subject.emitter
        return _DECLARED_SOURCES.get(emitter if isinstance(emitter, str) else "", EventSource.LAUNCHPAD)
    return _BY_TOPIC[log.raw["topics"][0]].source


def decode_event(log: EventLog) -> DecodedEvent:
    """Decode the event. Raises LogDecodingError."""
    if log.declared:
        return _decode_declared(log, log.declared)
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


def moved_pool(log: EventLog) -> str | None:
    """Return the next pool that a declared event names for a token; None for any other event."""
    change = log.declared
    if not isinstance(change, TokenChange) or change.field != "pool" or change.value is None:
        return None
    try:
        pool: str = part_at(change.event.decode(log.raw), change.value)
    except LogDecodingError:
        return None
    return pool


def _decode_declared(log: EventLog, declared: TokenChange | TokenClaim) -> DecodedEvent:
    values, subject, source = declared.event.decode(log.raw), declared.subject, event_source(log)
    identifier = part_at(values, subject.path) if subject.key else log.emitter
    key: EventKey = subject.key or ("pool_id" if source is EventSource.POOL else "token")
    token = identifier if key == "token" else None
    if isinstance(declared, TokenClaim):
        kind, arguments = EventKind.FEES_CLAIMED, {"claimer": part_at(values, declared.recipient)}
        arguments |= {name: part_at(values, path) for name, path in declared.amounts.items()}
        if declared.currency:
            arguments["currency"] = part_at(values, declared.currency)
    else:
        kind, name = _CHANGED[declared.field]
        arguments = {name: part_at(values, declared.value) if declared.value else None}
        if kind is EventKind.POOL_CHANGED:
            created = log.initialized_pool
            if created and token not in (created.currency0, created.currency1):
                raise LogDecodingError(f"{declared.event.signature}: the new pool lacks the token {token}")
            # The pool's currencies are the native coin or its wrapped form, and the token.
            arguments |= {
                "isCurrency0": created and token == created.currency0,
                "hook": created and created.hook,
                "sqrtPriceX96": created and created.sqrt_price,
            }
    return DecodedEvent(
        kind=kind,
        source=source,
        emitter=log.emitter,
        log_index=log.log_index,
        arguments=arguments,
        launchpad=declared.launchpad,
        token=token,
        pool=identifier if key == "pool_id" else None,
        nft=f"{log.emitter}/{identifier}" if key == "nft_id" else None,
    )


def _subject(source: EventSource, emitter: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    if source is EventSource.ITSELF:
        return {"token": emitter}
    if "token" in arguments:
        return {"token": arguments["token"]}
    pair = (arguments["token0"], arguments["token1"]) if "token0" in arguments else None
    return {"pair": pair, "position_id": arguments.get("lpTokenId")}


def read_payments(
    event: DecodedEvent, *, pair: tuple[str, str] | None, token: str | None = None
) -> tuple[FeePayment, ...]:
    """Return the fees that an event paid, one entry per recipient and currency; zero amounts are omitted.

    Events that omit the pool's currencies need `pair`, the currencies in pool order. Declared events need `token`, the
    launched token in that pair.

    In events from v0 to v3.0, the last two arguments are named totalAmount1 and totalAmount0, yet contain the totals in
    currency 0 and currency 1: `abi/json` names them total0 and total1. The launchpad's team got the difference between
    total and amount; its address is not in the event.
    """
    values = event.arguments
    if event.kind is EventKind.TEAM_FEES_CLAIMED or event.source is EventSource.FEE_SPENDER:
        return _payments([(values["recipient"], values["token"], values["amount"])])
    if event.kind is not EventKind.FEES_CLAIMED:
        return ()
    if event.launchpad:
        return _payments(_declared_amounts(values, pair, token) if pair and token else ())
    if event.source is EventSource.POOL:
        return _payments((values["claimer"], mint, amount) for mint, amount in values["amounts"].items())
    if event.source is EventSource.FEE_LOCKER:
        return _payments([(values["feeOwner"], values["token"], values["amountClaimed"])])
    if event.position_id is not None:
        return _payments(
            (values[f"{role}Recipient"], values[f"token{side}"], values[f"{role}Reward{side}"])
            for role in ("creator", "interface", "team")
            for side in (0, 1)
        )
    currencies = pair if event.names_no_pair else event.pair
    return _payments((values["claimer"], currency, values[f"amount{n}"]) for n, currency in enumerate(currencies or ()))


def _declared_amounts(values: Mapping[str, Any], pair: tuple[str, str], token: str) -> Iterator[tuple[str, str, int]]:
    """Yield recipient, currency and amount for each registry.ClaimedAmount in a declared claim."""
    quote = pair[1] if token == pair[0] else pair[0]
    currencies = {"amount0": pair[0], "amount1": pair[1], "token_amount": token, "quote_amount": quote}
    for name, currency in (currencies | {"amount": values.get("currency", "")}).items():
        if name in values:
            yield values["claimer"], currency, values[name]


def _payments(entries: Iterable[tuple[str, str, int]]) -> tuple[FeePayment, ...]:
    amounts: defaultdict[tuple[str, str], int] = defaultdict(int)
    for recipient, currency, amount in entries:
        amounts[recipient, currency] += amount
    return tuple(
        FeePayment(recipient=recipient, currency=currency, amount=amount)
        for (recipient, currency), amount in amounts.items()
        if amount
    )
