"""A chain in memory that is extended and reorged by a seed, and records the rows expected from it."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import Any

from eth_utils.crypto import keccak

from tests.nodes.log_encoding import LogEntry, encode_values
from tests.simulator.launches import Launched
from tests.simulator.transactions import Traffic, Transaction, TransactionMaker, revert
from tests.simulator.truth import EventTruth, Placed, PoolLogTruth, TokenTruth, Truth
from tokens.chains.evm.logs.blooms import bloom_mask

GENESIS_TIME = 1_735_689_600


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """A block on one branch."""

    number: int
    hash: str
    parent_hash: str
    # Unix seconds.
    time: int
    transactions: tuple[Transaction, ...]
    logs_bloom: int
    # The header's receipt root; the transaction root if empty.
    receipts_root: str = ""

    @property
    def has_logs(self) -> bool:
        return self.logs_bloom != 0

    @cached_property
    def logs(self) -> tuple["PlacedLog", ...]:
        """Its logs with their positions."""
        placed = ((tx, place, log) for place, tx in enumerate(self.transactions) for log in tx.logs)
        return tuple((self, *parts, index) for index, parts in enumerate(placed))


# A log with its position: block, transaction, the transaction's index, the log, the log's index in the block.
PlacedLog = tuple[Block, Transaction, int, LogEntry, int]


class SimulatedChain:
    """Blocks from number 0 on; block 0 is empty. One thread changes it; any number may read.

    A block list is only ever appended to, and a reorg makes a new one: a reader of `blocks` has a stable branch.
    """

    def __init__(
        self,
        seed: int,
        *,
        traffic: Traffic | None = None,
        block_seconds: int = 2,
        chain_id: int = 8453,
        genesis_time: int = GENESIS_TIME,
    ) -> None:
        """Make block 0, at `genesis_time` in Unix seconds."""
        self.seed, self.chain_id, self.rng = seed, chain_id, random.Random(seed)
        self.traffic, self.block_seconds, self.genesis_time = traffic or Traffic(), block_seconds, genesis_time
        self.maker = TransactionMaker(self.rng)
        # (lower-case address, function) -> the contract's return value, at any block.
        self.views: dict[tuple[str, str], bytes] = {}
        self.by_hash: dict[str, Block] = {}
        # Transaction hash -> the blocks that contain it, on any branch.
        self.places: dict[str, list[Block]] = {}
        self.blocks: list[Block] = []
        # The branches orphaned by reorgs, the newest last.
        self.dropped: list[list[Block]] = []
        # Called with each new head, in the chain's thread.
        self.listeners: list[Callable[[Block], None]] = []
        # The canonical chain's tokens, and their addresses.
        self._alive: list[Launched] = []
        self._known: set[str] = set()
        self._add(self.blocks, ())

    @property
    def head(self) -> Block:
        return self.blocks[-1]

    def mine(self, count: int = 1, *, transactions: Sequence[Transaction] | None = None) -> None:
        """Add blocks: with the chain's usual traffic, or each with these transactions."""
        for _ in range(count):
            mined = self._draw() if transactions is None else transactions
            self._add(self.blocks, mined)
            self._record(mined)
            self._announce(self.head)

    def reorg(self, depth: int, *, keep: float = 0.8, length: int | None = None) -> None:
        """Drop the newest blocks and replace them by a branch with `length` blocks (as many, by default).

        `keep` is the share of dropped transactions that are mined again there, in other blocks and shuffled: a few
        as another transaction with the same effect, and a few reverted.
        """
        if not 0 < depth < len(self.blocks):
            raise ValueError(f"a reorg of {depth} of {len(self.blocks)} blocks")
        length = depth if length is None else length
        branch = self.blocks[:-depth]
        doomed = [entry for block in self.blocks[-depth:] for entry in block.transactions]
        self.dropped.append(self.blocks)
        self._alive, self._known = [], set()
        self._record(entry for block in branch for entry in block.transactions)
        kept = [self._come_back(entry) for entry in doomed if self.rng.random() < keep]
        slots: list[list[Transaction]] = [[] for _ in range(length)]
        for entry in kept if length else ():
            slots[self.rng.randrange(length)].append(entry)
        late: list[Transaction] = []
        for slot in slots:
            self.rng.shuffle(slot)
            mined, late = self._in_order([*late, *slot])
            self._record(mined)
            mined = [*mined, *self._draw()] if self.rng.random() < 0.5 else mined
            self._add(branch, mined)
            self._record(mined)
        self.blocks = branch
        for block in branch[len(branch) - length :]:
            self._announce(block)

    def replace_blocks(self, changed: Mapping[int, Block]) -> None:
        """Put other blocks with the same hashes instead of these, number -> block: a chain with other filters."""
        for number, block in changed.items():
            former, self.blocks[number], self.by_hash[block.hash] = self.blocks[number], block, block
            for entry in block.transactions:
                self.places[entry.hash] = [block if place is former else place for place in self.places[entry.hash]]

    def truth(self, *, blocks: Sequence[Block] | None = None) -> Truth:
        """Return the expected tokens and events on the canonical chain, or in these blocks."""
        return truth_of(self.blocks if blocks is None else blocks)

    def _announce(self, block: Block) -> None:
        for listener in list(self.listeners):
            listener(block)

    def _draw(self) -> list[Transaction]:
        # Old tokens are as likely as new ones.
        return self.maker.block(self.traffic, self._alive)

    def _come_back(self, entry: Transaction) -> Transaction:
        draw = self.rng.random()
        if draw < 0.1:
            return self.maker.again(entry)
        return revert(entry) if draw < 0.15 else entry

    def _in_order(self, candidates: Sequence[Transaction]) -> tuple[list[Transaction], list[Transaction]]:
        """Return the transactions that can be mined, launches first, and those that lack their launch."""
        there = set(self._known)
        mined: list[Transaction] = []
        late = list(candidates)
        while True:
            ready = [entry for entry in late if entry.needs <= there]
            if not ready:
                return mined, late
            mined += ready
            late = [entry for entry in late if not entry.needs <= there]
            there |= {address for entry in ready for address in entry.launched}

    def _record(self, mined: Iterable[Transaction]) -> None:
        for entry in mined:
            self._alive += [token for _, token in entry.launches if token.address not in self._known]
            self._known |= entry.launched

    def _add(self, blocks: list[Block], transactions: Sequence[Transaction]) -> None:
        parent = blocks[-1] if blocks else None
        number = parent.number + 1 if parent else 0
        content = f"{self.seed} {parent and parent.hash} {[entry.hash for entry in transactions]} {len(self.by_hash)}"
        jitter = self.rng.choice((0, 0, 1)) if self.block_seconds > 1 else 0
        block = Block(
            number=number,
            hash="0x" + keccak(text=content).hex(),
            parent_hash=parent.hash if parent else "0x" + "00" * 32,
            time=parent.time + self.block_seconds + jitter if parent else self.genesis_time,
            transactions=tuple(transactions),
            logs_bloom=bloom(log for entry in transactions for log in entry.logs),
        )
        for entry in transactions:
            self.places.setdefault(entry.hash, []).append(block)
            for _, token in entry.launches:
                for (address, function), (kind, value) in token.views.items():
                    self.views[address, function] = encode_values((kind,), (value,))
        self.by_hash[block.hash] = block
        blocks.append(block)


def truth_of(blocks: Iterable[Block]) -> Truth:
    """Return these blocks' expected rows."""
    tokens: dict[str, TokenTruth] = {}
    events: list[EventTruth] = []
    pool_logs: list[PoolLogTruth] = []
    for block in blocks:
        start = 0
        for tx_index, entry in enumerate(block.transactions):
            for place, launched in entry.launches:
                tokens[launched.address] = _token(launched, _placed(block, tx_index, start + place))
            for place, happening in entry.happenings:
                events.append(EventTruth(at=_placed(block, tx_index, start + place), happening=happening))
            for place, log in entry.pool_logs:
                placed = _placed(block, tx_index, start + place)
                pool_logs.append(PoolLogTruth(at=placed, trader=entry.sender, log=log))
            start += len(entry.logs)
    for event in events:
        if event.happening.changes and event.happening.token:
            tokens[event.happening.token] = tokens[event.happening.token].after(event.happening)
    return Truth(tokens=tokens, events=events, pool_logs=pool_logs)


def bloom(logs: Iterable[LogEntry]) -> int:
    """Return the bloom filter for a block's logs, whose masks a test compares with a real node's."""
    return reduce(or_, (bloom_mask(item) for log in logs for item in (log.address, *log.topics)), 0)


def _placed(block: Block, tx_index: int, log_index: int) -> Placed:
    return Placed(
        tx_hash=block.transactions[tx_index].hash,
        tx_index=tx_index,
        log_index=log_index,
        block_number=block.number,
        block_hash=block.hash,
        block_time=block.time,
    )


def _token(launched: Launched, at: Placed) -> TokenTruth:
    extensions: dict[str, Any] = dict(launched.extensions)
    for name in ("vault", "airdrop"):
        if extensions[name]:
            lockup = extensions[name]["lockup"] | {"startedAt": at.block_time}
            extensions[name] = extensions[name] | {"lockup": lockup}
    return TokenTruth(
        at=at, address=launched.address, columns=launched.columns, shares=launched.shares, extensions=extensions
    )
