"""One mined transaction as the decoders read it: its logs by (emitting address, topic0), its call, its block."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokens.chains import abi
from tokens.chains.abi import Event, Log
from tokens.chains.base import NodeUnavailable
from tokens.chains.registry import ChainInfo

_TRANSFER = abi.load("token").event("Transfer")
_ZERO_TOPIC = "0x" + "00" * 32

# The calendar's end, in Unix seconds.
_YEAR_10000 = 253_402_300_800


@dataclass(frozen=True, kw_only=True, slots=True)
class MinedTransaction:
    """A transaction with its receipt and block, all three JSON-RPC objects as the node gave them."""

    chain: ChainInfo
    hash: str
    sender: str
    to: str | None
    value: int
    calldata: str
    succeeded: bool
    block_number: int
    block_hash: str
    block_time: int
    logs: tuple[Log, ...]
    _by_source: Mapping[tuple[str, str], Sequence[Log]]

    def emitted(self, event: Event, *, by: str | None) -> Sequence[Log]:
        """The logs of one event by one address, in order; none where the address is unknown."""
        return self._by_source.get((by.lower(), event.topic0), ()) if by else ()

    def calls(self, address: str) -> bool:
        """Whether the transaction itself, not a contract in between, called the address."""
        return self.to is not None and self.to.lower() == address.lower()

    def minted(self, token: str) -> int | None:
        """What the token's contract minted in this transaction, in wei; None where it minted nothing.

        ERC-20: event Transfer(address indexed from, address indexed to, uint256 value), from the zero address.
        """
        mints = [log for log in self.emitted(_TRANSFER, by=token) if log["topics"][1:2] == [_ZERO_TOPIC]]
        return sum(_TRANSFER.decode(log)["value"] for log in mints) if mints else None


def read_mined(
    chain: ChainInfo, *, transaction: Mapping[str, Any], receipt: Mapping[str, Any], block: Mapping[str, Any]
) -> MinedTransaction:
    """Put the JSON-RPC objects of a mined transaction together. Raises NodeUnavailable where a part is missing."""
    try:
        return _read_mined(chain, transaction, receipt, block)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise NodeUnavailable(f"chain {chain.chain_id}: half an answer ({error!r:.100})") from error


def _read_mined(
    chain: ChainInfo, transaction: Mapping[str, Any], receipt: Mapping[str, Any], block: Mapping[str, Any]
) -> MinedTransaction:
    by_source: defaultdict[tuple[str, str], list[Log]] = defaultdict(list)
    for log in receipt["logs"]:
        _check_log(log)
        if log["topics"]:
            by_source[log["address"].lower(), log["topics"][0]].append(log)
    return MinedTransaction(
        chain=chain,
        hash=_text(receipt["transactionHash"]),
        sender=abi.checksum(transaction["from"]),
        to=transaction["to"] and _text(transaction["to"]),
        value=int(transaction["value"], 16),
        calldata=_text(transaction["input"]),
        succeeded=int(receipt["status"], 16) == 1,
        block_number=_number(receipt["blockNumber"], below=2**63),
        block_hash=_text(receipt["blockHash"]),
        block_time=_number(block["timestamp"], below=_YEAR_10000),
        logs=tuple(receipt["logs"]),
        _by_source=by_source,
    )


def _check_log(log: Log) -> None:
    """The decoders rely on these; a half answer should show here and not there."""
    _text(log["data"])
    _number(log["logIndex"], below=2**31)
    if not isinstance(log["topics"], list):
        raise TypeError("topics that are no list")
    for topic in log["topics"]:
        _text(topic)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("something else in the place of a text")
    return value


def _number(text: str, *, below: int) -> int:
    number = int(text, 16)
    if not 0 <= number < below:
        raise ValueError("a number out of range")
    return number
