"""One mined transaction as the decoders read it: its logs by (emitting address, topic0), its call, its block.

Read in full it has all of these. Of the logs that a filter found nothing else is known: such a transaction answers what
the filter asked the chain for, and says of the rest that it can't know, so that no decoder takes silence for an answer.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.abi.codec import Event, Log
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import NodeUnavailable

_TRANSFER = codec.load("token").event("Transfer")
_ZERO_TOPIC = "0x" + "00" * 32

# The calendar's end, in Unix seconds.
_YEAR_10000 = 253_402_300_800


class BeyondLogs(Exception):
    """Only the whole transaction tells, and no more than logs of it are known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OuterCall:
    """The call that the transaction is; `value` in wei, `to` None where it made a contract."""

    sender: str
    to: str | None
    value: int
    calldata: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MinedTransaction:
    """A transaction with its logs and its block as the node gave them."""

    chain: ChainInfo
    hash: str
    block_number: int
    block_hash: str
    block_time: int
    succeeded: bool
    logs: tuple[Log, ...]
    _by_source: Mapping[tuple[str, str], Sequence[Log]]
    # None where logs alone are known: of the chain's `emitters` all that have one of the topics.
    _call: OuterCall | None
    _topics: Collection[str] = ()

    @property
    def call(self) -> OuterCall:
        """The transaction's own call. Raises BeyondLogs."""
        if self._call is None:
            raise BeyondLogs("the transaction's call")
        return self._call

    def emitted(self, event: Event, *, by: str | None) -> Sequence[Log]:
        """The logs of one event by one address, in order; none where the address is unknown. Raises BeyondLogs."""
        if by is None:
            return ()
        emitter = by.lower()
        if self._call is None and (event.topic0 not in self._topics or emitter not in self.chain.emitters):
            raise BeyondLogs(f"{event.signature} by {by}")
        return self._by_source.get((emitter, event.topic0), ())

    def miss(self, what: str) -> None:
        """Told of what a launch usually has, and this one lacks. Raises BeyondLogs where logs alone are known.

        They may be of some contracts only, and a node may leave logs out of its answer. A whole receipt that lacks
        something says that there is none.
        """
        if self._call is None:
            raise BeyondLogs(what)

    def calls(self, address: str) -> bool:
        """Whether the transaction itself, not a contract in between, called the address. Raises BeyondLogs."""
        to = self.call.to
        return to is not None and to.lower() == address.lower()

    def minted(self, token: str) -> int | None:
        """What the token's contract minted in this transaction, in wei; None where it minted nothing.

        ERC-20: event Transfer(address indexed from, address indexed to, uint256 value), from the zero address.
        Raises BeyondLogs.
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
    for log in receipt["logs"]:
        _check_log(log)
    return MinedTransaction(
        chain=chain,
        hash=_text(receipt["transactionHash"]),
        block_number=_number(receipt["blockNumber"], below=2**63),
        block_hash=_text(receipt["blockHash"]),
        block_time=_number(block["timestamp"], below=_YEAR_10000),
        succeeded=int(receipt["status"], 16) == 1,
        logs=tuple(receipt["logs"]),
        _by_source=_by_source(receipt["logs"]),
        _call=OuterCall(
            sender=codec.checksum(transaction["from"]),
            to=transaction["to"] and _text(transaction["to"]),
            value=int(transaction["value"], 16),
            calldata=_text(transaction["input"]),
        ),
    )


def gather_mined(
    chain: ChainInfo, logs: Sequence[Log], *, block_time: int, topics: Collection[str]
) -> MinedTransaction:
    """A transaction of which these logs are known, at least one; they are checked already.

    They are all that the chain's `emitters` emitted in it with one of the topics, and maybe others'.
    """
    first = logs[0]
    return MinedTransaction(
        chain=chain,
        hash=first["transactionHash"],
        block_number=int(first["blockNumber"], 16),
        block_hash=first["blockHash"],
        block_time=block_time,
        # The others have no logs.
        succeeded=True,
        logs=tuple(logs),
        _by_source=_by_source(logs),
        _call=None,
        _topics=topics,
    )


def _by_source(logs: Iterable[Log]) -> Mapping[tuple[str, str], Sequence[Log]]:
    by_source: defaultdict[tuple[str, str], list[Log]] = defaultdict(list)
    for log in logs:
        if log["topics"]:
            by_source[log["address"].lower(), log["topics"][0]].append(log)
    return by_source


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
