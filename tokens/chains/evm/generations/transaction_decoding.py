"""From a transaction, its receipt and its block to launches and what may be events of tokens: pure, no I/O.

A log counts as a launch by (chain, emitting address, topic0): the registry says which addresses are factories and which
layout of TokenCreated each emits. Everything else a launch needs is taken from logs whose emitter is vouched for, by
that TokenCreated or by the registry: anybody can emit any log from a contract of their own in the same transaction.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.abi.codec import Event, Log
from tokens.chains.evm.generations.event_decoding import find_logs
from tokens.chains.evm.generations.mined_transactions import MinedTransaction, read_mined
from tokens.chains.evm.generations.v0_to_v3_1.uniswap_v3_launches import decode_v0, decode_v1, decode_v3, decode_v3_1
from tokens.chains.evm.generations.v4.uniswap_v4_launches import decode_v4
from tokens.chains.registry.chains import ChainInfo, Generation
from tokens.chains.types import Launch, LaunchNotFound, TransactionFacts

Decode = Callable[[MinedTransaction, Log, Event, Generation], Launch]

# The layouts that the registry's `event` names. v1 and v2 share one: only the emitting address tells them apart.
LAYOUTS: Mapping[str, tuple[Event, Decode]] = {
    "v0": (codec.load("v0").event("TokenCreated"), decode_v0),
    "v1": (codec.load("v1").event("TokenCreated"), decode_v1),
    "v3": (codec.load("v3").event("TokenCreated"), decode_v3),
    "v3_1": (codec.load("v3_1").event("TokenCreated"), decode_v3_1),
    "v4": (codec.load("v4").event("TokenCreated"), decode_v4),
}


def decode_transaction(
    chain: ChainInfo, *, transaction: Mapping[str, Any], receipt: Mapping[str, Any], block: Mapping[str, Any]
) -> TransactionFacts:
    """What a mined transaction holds: launches, decoded, and logs that may be events of tokens, not yet believed.

    The arguments are JSON-RPC objects. Raises LaunchNotFound where there is neither, and LogUndecodable where a known
    factory's log is malformed.
    """
    return decode_mined(read_mined(chain, transaction=transaction, receipt=receipt, block=block))


def decode_mined(mined: MinedTransaction) -> TransactionFacts:
    """As `decode_transaction`. Raises BeyondLogs, too, where only logs are known and don't tell all."""
    if not mined.succeeded:
        raise LaunchNotFound("the transaction was reverted")
    launches, event_logs = tuple(_decode_launches(mined)), find_logs(mined)
    if not launches and not event_logs:
        raise LaunchNotFound("the transaction holds no launch by a known factory")
    return TransactionFacts(
        tx_hash=mined.hash,
        block_number=mined.block_number,
        block_hash=mined.block_hash,
        block_time=mined.block_time,
        launches=launches,
        event_logs=event_logs,
    )


def _decode_launches(mined: MinedTransaction) -> Iterator[Launch]:
    for log in mined.logs:
        generation = mined.chain.factory_generation(log["address"].lower())
        if generation is None or not log["topics"]:
            continue
        event, decode = LAYOUTS[generation.event]
        if log["topics"][0] == event.topic0:
            yield decode(mined, log, event, generation)
