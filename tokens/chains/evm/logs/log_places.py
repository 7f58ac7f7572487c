"""Log positions in the chain, and addresses in logs. Pure."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from tokens.chains.abi.codec import Log
from tokens.chains.addresses import checksum_bytes
from tokens.chains.pool_types import UndecodableLog
from tokens.chains.rpc.quantities import MalformedResponseError, parse_log_address

_PADDING = "0x" + "00" * 12


class LogPlace(NamedTuple):
    """A log's emitter and position in the chain; fields as in `Swap`, the first five in its order."""

    emitter: str
    block_number: int
    block_time: int
    tx_hash: str
    log_index: int
    # The transaction's sender.
    trader: str | None
    tx_index: int


def place_of(log: Log, index: int, *, times: Mapping[str, int], senders: Mapping[str, object]) -> LogPlace:
    """Return a log's place; `times` and `senders` as in `decode_pool_logs`."""
    return LogPlace(
        checksum_text(log["address"]),
        int(log["blockNumber"], 16),
        times.get(log["blockHash"], 0),
        log["transactionHash"],
        index,
        sender_of(log["transactionHash"], senders),
        int(log["transactionIndex"], 16),
    )


def undecodable_log(log: Log, *, launchpad: str | None, reason: str) -> UndecodableLog:
    """Return a log that can't be decoded."""
    return UndecodableLog(
        block_number=int(log["blockNumber"], 16),
        tx_hash=log["transactionHash"],
        log_index=int(log["logIndex"], 16),
        emitter=checksum_text(log["address"]),
        launchpad=launchpad,
        reason=reason,
    )


def sender_of(tx_hash: str, senders: Mapping[str, object]) -> str | None:
    """Return a transaction's sender; None where only logs were read."""
    return checksum_text(parse_log_address(senders[tx_hash])) if senders else None


# Cached, because few routers call most pools.
@lru_cache(maxsize=16_384)
def address_in(topic: str) -> str:
    """Return the address in a topic. Raises MalformedResponseError."""
    if not topic.startswith(_PADDING):
        raise MalformedResponseError("something else in the place of an address")
    return checksum_bytes(bytes.fromhex(topic[len(_PADDING) :]))


@lru_cache(maxsize=16_384)
def checksum_text(address: str) -> str:
    """Return an address in EIP-55 form."""
    return checksum_bytes(bytes.fromhex(address[2:]))
