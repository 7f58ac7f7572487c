"""One mined transaction as the decoders read it: its logs by (emitting address, topic0), its call, its block."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tokens.chains import abi
from tokens.chains.abi import Event, Log
from tokens.chains.base import NodeUnavailable
from tokens.chains.registry import ChainInfo

_TRANSFER = abi.load("token").event("Transfer")
_ZERO_TOPIC = "0x" + "00" * 32


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
    _by_source: Mapping[tuple[str, str], tuple[Log, ...]]

    def emitted(self, event: Event, *, by: str | None) -> tuple[Log, ...]:
        """The logs of one event by one address, in order; none where the address is unknown."""
        return self._by_source.get((by.lower(), event.topic0), ()) if by else ()

    def calls(self, address: str) -> bool:
        """Whether the transaction itself, not a contract in between, called the address."""
        return self.to is not None and self.to.lower() == address.lower()

    def minted(self, token: str) -> int | None:
        """What the token's contract minted in this transaction, in wei; None where it minted nothing.

        ERC-20: event Transfer(address indexed from, address indexed to, uint256 value), from the zero address.
        """
        mints = [log for log in self.emitted(_TRANSFER, by=token) if log["topics"][1] == _ZERO_TOPIC]
        return sum(int(log["data"], 16) for log in mints) if mints else None


def read_mined(
    chain: ChainInfo, *, transaction: Mapping[str, Any], receipt: Mapping[str, Any], block: Mapping[str, Any]
) -> MinedTransaction:
    """Put the JSON-RPC objects of a mined transaction together. Raises NodeUnavailable where a part is missing."""
    try:
        return _read_mined(chain, transaction, receipt, block)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise NodeUnavailable(f"chain {chain.chain_id}: half an answer ({error!r})") from error


def _read_mined(
    chain: ChainInfo, transaction: Mapping[str, Any], receipt: Mapping[str, Any], block: Mapping[str, Any]
) -> MinedTransaction:
    by_source: dict[tuple[str, str], tuple[Log, ...]] = {}
    for log in receipt["logs"]:
        # The decoders rely on these two; a half answer should show here and not there.
        if not isinstance(log["data"], str) or not isinstance(log["logIndex"], str):
            raise TypeError("a log without data or index")
        if log["topics"]:
            source = (log["address"].lower(), log["topics"][0])
            by_source[source] = (*by_source.get(source, ()), log)
    return MinedTransaction(
        chain=chain,
        hash=receipt["transactionHash"],
        sender=abi.checksum(transaction["from"]),
        to=transaction["to"],
        value=int(transaction["value"], 16),
        calldata=transaction["input"],
        succeeded=int(receipt["status"], 16) == 1,
        block_number=int(receipt["blockNumber"], 16),
        block_hash=receipt["blockHash"],
        block_time=int(block["timestamp"], 16),
        logs=tuple(receipt["logs"]),
        _by_source=by_source,
    )
