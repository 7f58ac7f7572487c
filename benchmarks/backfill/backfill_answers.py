"""Node responses for the generated chain. Its logs are rendered once at the start, all else on request.

Responses are JSON bytes. `stamped` logs contain their block's timestamp, as newer nodes' logs do.
"""

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from benchmarks.backfill.backfill_chain import Action, Chain, block_time, transaction_hash
from benchmarks.backfill.backfill_texts import (
    FOREIGN,
    bloom_of,
    foreign,
    foreign_bloom,
    log_end,
    render_block,
    render_logs,
    render_receipt,
)
from tokens.chains.abi import codec

# Launch events and later ones. Transfers, Uniswap's own and others are in receipts only.
_OURS = frozenset(
    event.topic0
    for name in ("v4", "after_launch")
    for overloads in codec.load_abi(name).events.values()
    for event in overloads
)
# Blocks that follow the last one with launches, so that this one is final for every client.
BLOCKS_BEHIND = 2_000
_FINAL_BLOCKS = 900


class UnsupportedFilterError(Exception):
    """A request that this node can't answer correctly."""


class TooManyLogsError(Exception):
    """More logs than a node returns at once."""


class Answers:
    """One chain's responses."""

    def __init__(self, chain: Chain) -> None:
        self.head = chain.blocks - 1 + BLOCKS_BEHIND
        self._ours = chain.actions
        self._blocks = [action.block for action in self._ours]
        self._logs = [tuple(log for log in render_logs(action) if log.topic0 in _OURS) for action in self._ours]
        self._unserved = {shape.topics[0] for action in self._ours for shape in action.shapes} - _OURS
        self._blooms = [bloom_of(action) for action in self._ours]

    def logs(self, wanted: Mapping[str, Any], *, stamped: bool, most: int) -> bytes:
        """Return the eth_getLogs result, an array.

        Raises UnsupportedFilterError, and TooManyLogsError where it has more logs than `most`.
        A filter must name its first topics, and none that is rendered in receipts only.
        """
        first, last = self.number(wanted["fromBlock"]), self.number(wanted["toBlock"])
        addresses, topics = one_or_many(wanted.get("address")), first_topics(wanted)
        if topics is None or topics & self._unserved:
            raise UnsupportedFilterError("this node serves no such filter")
        texts: list[bytes] = []
        start, end = bisect_left(self._blocks, first), bisect_left(self._blocks, last + 1)
        for block, logs in zip(self._blocks[start:end], self._logs[start:end], strict=True):
            end_of_log = log_end(block, stamped=stamped)
            texts += [
                log.text + end_of_log
                for log in logs
                if log.topic0 in topics and (addresses is None or log.address in addresses)
            ]
        if len(texts) > most:
            raise TooManyLogsError(f"query returned more than {most} results")
        return b"[" + b",".join(texts) + b"]"

    def block(self, wanted: str) -> bytes:
        """Return a block with its transactions' hashes, by its number in hex or its name."""
        number = self.number(wanted)
        if not 0 <= number <= self.head:
            return b"null"
        places, bloom = self._places(number), foreign_bloom(number)
        for place in places:
            bloom |= self._blooms[place]
        texts = [f'"{transaction_hash(number, index)}"' for index in range(len(places) + FOREIGN)]
        return render_block(number, texts, time=block_time(number), bloom=bloom)

    def receipts(self, wanted: str, *, stamped: bool) -> bytes:
        """Return a block's receipts, an array."""
        number = self.number(wanted)
        if not 0 <= number <= self.head:
            return b"null"
        parts = [render_receipt(each, render_logs(each), stamped=stamped) for each in self._actions(number)]
        return b"[" + b",".join(parts) + b"]"

    def number(self, wanted: str) -> int:
        """Return the block number, given as a name or a number in hex."""
        names = {"latest": self.head, "finalized": self.head - _FINAL_BLOCKS, "safe": self.head, "earliest": 0}
        return names[wanted] if wanted in names else int(wanted, 16)

    def _places(self, number: int) -> range:
        """Return the launchpad's transaction indexes in a block."""
        return range(bisect_left(self._blocks, number), bisect_left(self._blocks, number + 1))

    def _actions(self, number: int) -> list[Action]:
        """Return all transactions in a block."""
        ours = [self._ours[place] for place in self._places(number)]
        first_log = sum(len(action.shapes) for action in ours)
        return ours + foreign(number, index=len(ours), first_log=first_log)


def one_or_many(value: str | list[str] | None) -> frozenset[str] | None:
    """Return a filter part's lower-case hex; None where it takes any."""
    if value is None:
        return None
    return frozenset(text.lower() for text in ([value] if isinstance(value, str) else value))


def first_topics(wanted: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the first topic's allowed values.

    Raises UnsupportedFilterError where the filter has other topics, too.
    """
    topics = wanted.get("topics") or [None]
    if any(topics[1:]):
        raise UnsupportedFilterError("this node compares first topics only")
    return one_or_many(topics[0])
