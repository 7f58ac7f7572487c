"""Node responses for the generated chain. Its logs are rendered once at the start, all else on request.

Responses are JSON bytes. `stamped` logs contain their block's timestamp, as newer nodes' logs do.
"""

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from benchmarks.backfill.backfill_chain import Chain
from development.standins.loopback import RefusedError
from tests.simulator.chain import bloom
from tests.simulator.shapes import block_json, log_json, receipt_json
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


class _RenderedLog(NamedTuple):
    """A log's text without its end, and the values that filters compare."""

    block: int
    address: str
    topic0: str
    text: bytes
    # Its end with the block's timestamp, as newer nodes send it.
    stamp: bytes


class Answers:
    """One chain's responses."""

    def __init__(self, chain: Chain) -> None:
        self._chain: Any = chain
        self.head = chain.blocks - 1 + BLOCKS_BEHIND
        self._logs: list[_RenderedLog] = []
        self._unserved = set[str]()
        for number in sorted({action.block for action in chain.actions}):
            self._render(number)

    def _render(self, number: int) -> None:
        block = self._chain.block(number)
        stamp = b',"blockTimestamp":"%#x"}' % block.time
        for placed in block.logs:
            log = placed[3]
            if log.topics[0] in _OURS:
                text = orjson.dumps(log_json(*placed, with_times=False))[:-1]
                self._logs.append(_RenderedLog(number, log.address, log.topics[0], text, stamp))
            else:
                self._unserved.add(log.topics[0])

    def logs(self, wanted: Mapping[str, Any], *, stamped: bool, most: int) -> bytes:
        """Return the eth_getLogs result, an array.

        Raises RefusedError for a filter that it can't answer correctly, or where it has more logs than `most`.
        A filter must name its first topics, and none that is rendered in receipts only.
        """
        first, last = self.number(wanted["fromBlock"]), self.number(wanted["toBlock"])
        addresses, topics = one_or_many(wanted.get("address")), first_topics(wanted)
        if topics is None or topics & self._unserved:
            raise RefusedError(-32000, "this node serves no such filter")
        start, end = (bisect_left(self._logs, number, key=lambda log: log.block) for number in (first, last + 1))
        texts = [
            log.text + (log.stamp if stamped else b"}")
            for log in self._logs[start:end]
            if log.topic0 in topics and (addresses is None or log.address in addresses)
        ]
        if len(texts) > most:
            raise RefusedError(-32005, f"query returned more than {most} results")
        return b"[" + b",".join(texts) + b"]"

    def block(self, wanted: str) -> bytes:
        """Return a block with its transactions' hashes, by its number in hex or its name."""
        number = self.number(wanted)
        if not 0 <= number <= self.head:
            return b"null"
        return orjson.dumps(block_json(self._chain.block(number), full=False))

    def receipts(self, wanted: str, *, stamped: bool) -> bytes:
        """Return a block's receipts, an array."""
        number = self.number(wanted)
        if not 0 <= number <= self.head:
            return b"null"
        block = self._chain.block(number)
        receipts = [
            receipt_json(block, place, bloom=bloom(entry.logs), with_times=stamped)
            for place, entry in enumerate(block.transactions)
        ]
        return orjson.dumps(receipts)

    def number(self, wanted: str) -> int:
        """Return the block number, given as a name or a number in hex."""
        names = {"latest": self.head, "finalized": self.head - _FINAL_BLOCKS, "safe": self.head, "earliest": 0}
        return names[wanted] if wanted in names else int(wanted, 16)


def one_or_many(value: str | list[str] | None) -> frozenset[str] | None:
    """Return a filter part's lower-case hex; None where it takes any."""
    if value is None:
        return None
    return frozenset(text.lower() for text in ([value] if isinstance(value, str) else value))


def first_topics(wanted: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the first topic's allowed values.

    Raises RefusedError where the filter has other topics, too.
    """
    topics = wanted.get("topics") or [None]
    if any(topics[1:]):
        raise RefusedError(-32000, "this node compares first topics only")
    return one_or_many(topics[0])
