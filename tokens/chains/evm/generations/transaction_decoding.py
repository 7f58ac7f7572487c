"""Decoding of a transaction, its receipt and its block to launches and candidate token events: pure, no I/O.

A log counts as a launch by (chain, emitting address, topic0): the registry lists the factory addresses and the layout
of TokenCreated that each emits. Every other field of a launch is read from logs of trusted emitters, which are named by
that TokenCreated or by the registry: any contract can emit any log in the same transaction.
"""

from collections.abc import Callable, Iterator, Mapping

from tokens.chains.abi import codec
from tokens.chains.abi.codec import AbiEvent, Log
from tokens.chains.errors import LaunchNotFoundError
from tokens.chains.evm.generations.event_decoding import find_event_logs
from tokens.chains.evm.generations.mined_transactions import MinedTransaction
from tokens.chains.evm.generations.v0_to_v3_1.uniswap_v3_launches import decode_v0, decode_v1_to_v3, decode_v3_1
from tokens.chains.evm.generations.v4.uniswap_v4_launches import decode_v4
from tokens.chains.registry.chains import Generation
from tokens.chains.types import Launch, TransactionFacts

Decode = Callable[[MinedTransaction, Log, AbiEvent, Generation], Launch]

# The layouts that the registry's `event` names. v1 and v2 share one: only the emitting address distinguishes them.
LAYOUTS: Mapping[str, tuple[AbiEvent, Decode]] = {
    "v0": (codec.load_abi("v0").event("TokenCreated"), decode_v0),
    "v1": (codec.load_abi("v1").event("TokenCreated"), decode_v1_to_v3),
    "v3": (codec.load_abi("v3").event("TokenCreated"), decode_v1_to_v3),
    "v3_1": (codec.load_abi("v3_1").event("TokenCreated"), decode_v3_1),
    "v4": (codec.load_abi("v4").event("TokenCreated"), decode_v4),
}
_CREATED_TOPICS = frozenset(event.topic0 for event, _ in LAYOUTS.values())


def decode_mined(mined: MinedTransaction) -> TransactionFacts:
    """Decode the launches of a mined transaction, and collect logs that may be token events, not yet verified.

    Raises LaunchNotFoundError if there are neither, LogDecodingError if the log of a factory is malformed, and
    FullTransactionRequiredError if the available logs are insufficient.
    """
    if not mined.succeeded:
        raise LaunchNotFoundError("the transaction was reverted")
    launches, event_logs = tuple(_decode_launches(mined)), find_event_logs(mined)
    if not launches and not event_logs:
        raise LaunchNotFoundError("the transaction holds no launch by a known factory")
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
        if not log["topics"] or log["topics"][0] not in _CREATED_TOPICS:
            continue
        generation = mined.chain.factory_generation(log["address"].lower())
        if generation is None:
            continue
        event, decode = LAYOUTS[generation.event]
        if log["topics"][0] == event.topic0:
            yield decode(mined, log, event, generation)
