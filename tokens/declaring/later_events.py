"""Declared events about a launch's token in a transaction, as changes and claims would be stored."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from tokens.chains.abi.codec import Log
from tokens.chains.abi.paths import part_at
from tokens.chains.addresses import checksum_address
from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.generations.event_decoding import (
    DecodedEvent,
    EventKind,
    EventSource,
    decode_event,
    find_event_logs,
    moved_pool,
    read_payments,
)
from tokens.chains.evm.generations.mined_transactions import MinedTransaction
from tokens.chains.pool_types import order_currencies
from tokens.chains.registry.launchpads import Launchpad, TokenEventDeclaration
from tokens.chains.types import Launch
from tokens.declaring.declared_sources import source_of
from tokens.declaring.pool_trades import TriedLog, TriedPool


def try_events(mined: MinedTransaction, launch: Launch) -> Iterator[TriedLog]:
    """Yield the transaction's changes and claims about the launch's token."""
    for log in find_event_logs(mined):
        if log.declared is None or log.declared.launchpad != launch.generation:
            continue
        try:
            event = decode_event(log)
        except LogDecodingError as error:
            name = log.declared.event.signature.partition("(")[0]
            yield TriedLog(tx_hash=mined.hash, log_index=log.log_index, text=f"{name} can't be decoded: {error}")
            continue
        if _is_about(event, launch):
            yield TriedLog(tx_hash=mined.hash, log_index=log.log_index, text=_text(event, launch, mined))


def find_moved_pools(mined: MinedTransaction, launch: Launch) -> Iterator[TriedPool]:
    """Yield the pools that a launch's token moves to in a transaction."""
    for log in find_event_logs(mined):
        if launch.pool and moved_pool(log):
            event = decode_event(log)
            if event.launchpad == launch.generation and _is_about(event, launch):
                values = event.arguments
                pool = replace(launch.pool, address=values["pool"], hook=values["hook"])
                yield TriedPool(pool=pool, is_currency0=values["isCurrency0"])


def find_event_mistakes(mined: MinedTransaction, launch: Launch, launchpad: Launchpad) -> Iterator[str]:
    """Yield mistakes about a transaction's changes and claims: a pool that is none, and emitters that don't count."""
    for moved in find_moved_pools(mined, launch):
        if moved.pool.address == launch.token:
            yield f"the later pool is {launch.token}, the token itself: `to` names another argument than the pool"
    for declared in launchpad.later_events:
        yield from _other_emitters(mined, launch, launchpad, declared)


def _other_emitters(
    mined: MinedTransaction, launch: Launch, launchpad: Launchpad, declared: TokenEventDeclaration
) -> Iterator[str]:
    """Yield the logs about the launch's token that only their emitter keeps from being a declared event."""
    subject, pool = declared.subject, launch.pool
    # Any NFT contract may have the id, and any token may emit an event without a key.
    names: Collection[object] = ()
    if subject.key == "token":
        names = (launch.token,)
    elif subject.key == "pool_id":
        names = (pool and pool.address, launch.next_pool)
    emitters = launchpad.event_emitters(subject, mined.chain.chain_id)
    if subject.emitter == "hook":
        emitters = frozenset({((pool and pool.hook) or "").lower()})
    foreign = []
    for log in mined.logs:
        if source_of(log)[1] == declared.event.topic0 and _subject_of(log, declared) in names:
            if log["address"].lower() in emitters:
                return
            foreign.append(log)
    whose = {"launch": "`contracts`", "hook": "the pool's hook"}.get(str(subject.emitter), "`by`")
    expected = ", ".join(checksum_address(address) for address in sorted(emitters) if address) or "none"
    for log in foreign:
        name, index = declared.event.signature.partition("(")[0], int(log["logIndex"], 16)
        emitter = checksum_address(log["address"])
        yield f"log {index}, {name} is emitted by {emitter}, and counts by {whose}: {expected}"


def _subject_of(log: Log, declared: TokenEventDeclaration) -> object:
    try:
        return part_at(declared.event.decode(log), declared.subject.path)
    except LogDecodingError:
        return ""


def _is_about(event: DecodedEvent, launch: Launch) -> bool:
    pool = launch.pool
    if event.source is EventSource.HOOK and (pool is None or pool.hook != event.emitter):
        return False
    if event.nft:
        return event.nft == launch.nft
    if event.pool:
        return event.pool in (pool and pool.address, launch.next_pool)
    return event.token == launch.token


def _text(event: DecodedEvent, launch: Launch, mined: MinedTransaction) -> str:
    if event.kind is not EventKind.FEES_CLAIMED:
        (_, value), *_ = event.arguments.items()
        if event.kind is EventKind.POOL_CHANGED:
            value = value or launch.next_pool
        return f"change: {event.kind.removesuffix('_updated').replace('_', ' ')} {value!r}, by {event.emitter}"
    quote, wrapped = launch.pool.paired_token if launch.pool else "", mined.chain.wrapped_native
    pair = order_currencies(launch.token, quote, pool=event.pool or "", wrapped_native=wrapped) if quote else None
    payments = read_payments(event, pair=pair, token=launch.token)
    amounts = " and ".join(f"{payment.amount} of {payment.currency}" for payment in payments)
    return f"claim by {event.emitter}: {event.arguments['claimer']} is paid {amounts or 'nothing'}, in smallest units"
