"""From a transaction, its receipt and its block to launches: pure, no I/O.

A log counts as a launch by (chain, emitting address, topic0): the registry says which addresses are factories and which
layout of TokenCreated each emits. Everything else a launch needs is taken from logs whose emitter is vouched for, by
that TokenCreated or by the registry: anybody can emit any log from a contract of their own in the same transaction.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tokens.chains import abi
from tokens.chains.abi import Event, Log
from tokens.chains.base import Launch, LaunchNotFound
from tokens.chains.decoding_v3 import decode_v0, decode_v1, decode_v3, decode_v3_1
from tokens.chains.decoding_v4 import decode_v4
from tokens.chains.receipts import MinedTransaction, read_mined
from tokens.chains.registry import ChainInfo, Generation

Decode = Callable[[MinedTransaction, Log, Event, Generation], Launch]

# The layouts that the registry's `event` names. v1 and v2 share one: only the emitting address tells them apart.
LAYOUTS: Mapping[str, tuple[Event, Decode]] = {
    "v0": (abi.load("v0").event("TokenCreated"), decode_v0),
    "v1": (abi.load("v1").event("TokenCreated"), decode_v1),
    "v3": (abi.load("v3").event("TokenCreated"), decode_v3),
    "v3_1": (abi.load("v3_1").event("TokenCreated"), decode_v3_1),
    "v4": (abi.load("v4").event("TokenCreated"), decode_v4),
}


def decode_launches(
    chain: ChainInfo, *, transaction: Mapping[str, Any], receipt: Mapping[str, Any], block: Mapping[str, Any]
) -> tuple[Launch, ...]:
    """Every launch of a mined transaction, in log order; the arguments are JSON-RPC objects.

    Raises LaunchNotFound where there is none, and LogUndecodable where a known factory's log is malformed.
    """
    mined = read_mined(chain, transaction=transaction, receipt=receipt, block=block)
    if not mined.succeeded:
        raise LaunchNotFound("the transaction was reverted")
    launches = []
    for log in mined.logs:
        generation = chain.factory_generation(log["address"].lower())
        if generation is None or not log["topics"]:
            continue
        event, decode = LAYOUTS[generation.event]
        if log["topics"][0] == event.topic0:
            launches.append(decode(mined, log, event, generation))
    if not launches:
        raise LaunchNotFound("the transaction holds no launch by a known factory")
    return tuple(launches)
