"""Mined transactions in the form that the decoders read: logs by (emitting address, topic0), call and block.

A transaction that was fetched in full has all of these. A transaction assembled from filtered logs has only these logs.
It raises for every log that the filter does not cover, so that no decoder mistakes a log that was not fetched for a log
that was not emitted.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.abi.codec import AbiEvent, Log
from tokens.chains.addresses import checksum_address
from tokens.chains.errors import InconsistentResponseError
from tokens.chains.registry.chains import ChainInfo

# The PoolManager emits this event for each new pool.
POOL_INITIALIZED = codec.load_abi("uniswap_v4").event("Initialize")
_TRANSFER = codec.load_abi("token").event("Transfer")
_ZERO_TOPIC = "0x" + "00" * 32

# Lower-case address and topic0.
Source = tuple[str, str]

# The end of the year 9999, in Unix seconds.
_YEAR_10000 = 253_402_300_800


class FullTransactionRequiredError(Exception):
    """Raised where the full transaction is required and only some of its logs were fetched."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OuterCall:
    """The outer call of a transaction; `value` in wei, `to` None for a contract creation."""

    sender: str
    to: str | None
    value: int
    calldata: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MinedTransaction:
    """A transaction with its logs and its block, as the node returned them."""

    chain: ChainInfo
    hash: str
    block_number: int
    block_hash: str
    block_time: int
    succeeded: bool
    logs: tuple[Log, ...]
    _by_source: Mapping[Source, Sequence[Log]]
    # None if only logs are available: all that the chain's `emitters` and `pools_of_launches` emitted with `_topics`.
    _call: OuterCall | None
    _topics: Collection[str] = ()
    # The call's sender. A block's transactions have it, too, so that it may be set without the call.
    _sender: str | None = None

    @property
    def sender(self) -> str:
        """Return the account that sent the transaction. Raises FullTransactionRequiredError."""
        return self._sender or self.call.sender

    @property
    def call(self) -> OuterCall:
        """Return the transaction's outer call. Raises FullTransactionRequiredError."""
        if self._call is None:
            raise FullTransactionRequiredError("the transaction's call")
        return self._call

    def emitted(self, event: AbiEvent, *, by: str | None) -> Sequence[Log]:
        """Return an event's logs from an address, in log order; none if `by` is None.

        Raises FullTransactionRequiredError.
        """
        if by is None:
            return ()
        emitter = by.lower()
        if self._call is None and not (
            event.topic0 in self._topics and (emitter in self.chain.emitters or emitter in self.chain.pools_of_launches)
        ):
            raise FullTransactionRequiredError(f"{event.signature} by {by}")
        return self._by_source.get((emitter, event.topic0), ())

    def from_sources(self, sources: Set[Source]) -> list[tuple[Source, Log]]:
        """Return the available logs of these sources, in log order."""
        logs = [(source, log) for source in sources & self._by_source.keys() for log in self._by_source[source]]
        return sorted(logs, key=lambda each: int(each[1]["logIndex"], 16)) if len(logs) > 1 else logs

    @property
    def initialized_pools(self) -> Sequence[Log]:
        """The creation logs of v4 pools in this transaction, as far as they were fetched."""
        return self._by_source.get(((self.chain.v4_pool_manager or "").lower(), POOL_INITIALIZED.topic0), ())

    def require_full_transaction(self, missing: str) -> None:
        """Raise FullTransactionRequiredError if only logs are available and they lack a part that a launch usually has.

        A filter covers some contracts only, and a node may omit logs from its response. In a full receipt a missing
        log means that the contract did not emit it, so nothing is raised.
        """
        if self._call is None:
            raise FullTransactionRequiredError(missing)

    def is_call_to(self, address: str) -> bool:
        """Return whether the outer call, not one by a contract in between, is to this address.

        Raises FullTransactionRequiredError.
        """
        to = self.call.to
        return to is not None and to.lower() == address.lower()

    def minted_amount(self, token: str) -> int | None:
        """Return the amount that the token's contract minted in this transaction, in wei; None if it minted nothing.

        ERC-20: event Transfer(address indexed from, address indexed to, uint256 value), from the zero address.
        Raises FullTransactionRequiredError.
        """
        mints = [log for log in self.emitted(_TRANSFER, by=token) if log["topics"][1:2] == [_ZERO_TOPIC]]
        return sum(_TRANSFER.decode(log)["value"] for log in mints) if mints else None


def read_mined(
    chain: ChainInfo, *, transaction: Mapping[str, Any], receipt: Mapping[str, Any], block: Mapping[str, Any]
) -> MinedTransaction:
    """Parse the JSON-RPC objects of a mined transaction. Raises InconsistentResponseError for an incomplete one."""
    try:
        return _read_mined(chain, transaction, receipt, block)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InconsistentResponseError(f"chain {chain.chain_id}: incomplete response ({error!r:.100})") from error


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
            sender=checksum_address(transaction["from"]),
            to=transaction["to"] and _text(transaction["to"]),
            value=int(transaction["value"], 16),
            calldata=_text(transaction["input"]),
        ),
    )


def mined_from_logs(
    chain: ChainInfo, logs: Sequence[Log], *, block_time: int, topics: Collection[str], sender: str | None = None
) -> MinedTransaction:
    """Assemble a transaction from one or more validated logs, and from its sender, if known.

    The logs must include all that the chain's `emitters` and `pools_of_launches` emitted with `topics`. They may
    include other emitters' logs.
    """
    first = logs[0]
    return MinedTransaction(
        chain=chain,
        hash=first["transactionHash"],
        block_number=int(first["blockNumber"], 16),
        block_hash=first["blockHash"],
        block_time=block_time,
        # A reverted transaction has no logs.
        succeeded=True,
        logs=tuple(logs),
        _by_source=_by_source(logs),
        _call=None,
        _topics=topics,
        _sender=sender,
    )


def _by_source(logs: Iterable[Log]) -> Mapping[Source, Sequence[Log]]:
    by_source: defaultdict[Source, list[Log]] = defaultdict(list)
    for log in logs:
        if log["topics"]:
            by_source[log["address"].lower(), log["topics"][0]].append(log)
    return by_source


def _check_log(log: Log) -> None:
    """Validate the fields that decoders rely on, so that an incomplete response fails here and not in a decoder."""
    _text(log["data"])
    _number(log["logIndex"], below=2**31)
    if not isinstance(log["topics"], list):
        raise TypeError("topics are not a list")
    for topic in log["topics"]:
        _text(topic)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("expected a string")
    return value


def _number(text: str, *, below: int) -> int:
    number = int(text, 16)
    if not 0 <= number < below:
        raise ValueError("number out of range")
    return number
