"""Declared events about a launch's token in a transaction, as changes and claims would be stored."""

from collections.abc import Iterator
from dataclasses import replace

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
from tokens.chains.types import Launch
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
        return f"change: {event.kind.removesuffix('_updated').replace('_', ' ')} {value!r}, by {event.emitter}"
    quote, wrapped = launch.pool.paired_token if launch.pool else "", mined.chain.wrapped_native
    pair = order_currencies(launch.token, quote, pool=event.pool or "", wrapped_native=wrapped) if quote else None
    payments = read_payments(event, pair=pair, token=launch.token)
    amounts = " and ".join(f"{payment.amount} of {payment.currency}" for payment in payments)
    return f"claim by {event.emitter}: {event.arguments['claimer']} is paid {amounts or 'nothing'}, in smallest units"
