"""Historical chain sync: ranges of final blocks, prefetched and written in chain order with their progress."""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import Event
from typing import NamedTuple

from django.db import transaction

from config.http.errors import RetryableError
from config.http.request_ids import begin_request
from config.postgresql.bulk_load import tune_bulk_transaction
from config.processes.progress import Progress
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.pool_types import PoolSelection
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import RangeFacts, TransactionFacts
from tokens.following import chain_heads
from tokens.following.block_contents import (
    MAX_WRITTEN_TRANSACTIONS,
    count_contents,
    join_ranges,
    split_between_blocks,
)
from tokens.following.coverage import (
    ProgressConflictError,
    advance_followed,
    covers_events,
    covers_launches,
    covers_trades,
    event_contracts,
    open_live_coverage,
)
from tokens.following.followed_pools import FollowedPools, select_followed_pools
from tokens.following.leader_loops import LeaderSession
from tokens.following.prefetch import Prefetcher, PrefetchJob, RetryControl, prefetching
from tokens.indexing import chain_lock, writing
from tokens.indexing.launch_rows import LaunchKey, LaunchLine, make_launch_lines
from tokens.installation.installed_chains import installed_chain
from tokens.models import Coverage, FollowedBlock, IndexRequest
from tokens.trades import trade_writing
from tokens.trades.pool_tokens import PoolTokenCache
from tokens.trades.trade_writing import PreparedTrades, UnsummedToken

# The most reorg window blocks that are read at once.
MAX_JOINED_BLOCKS = 100
# The name of this loop among the failures.
HISTORY = "history"

# The most tokens that are summed up in a transaction, and about the most trades: meanwhile no block is written.
_SUMMED_TOKENS = 1_000
_SUMMED_TRADES = 50_000
# Trades after which a long historical sync is summed up before its end. All may be in one token, which is summed up in
# one transaction.
_SUM_UP_AFTER = 2_000_000
# Seconds between two checks for blocks to read.
_CHECK_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryStep:
    """Written blocks: the last one, how many, and the counts of their contents."""

    to: int
    blocks: int
    launches: int
    transactions: int
    trades: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _PreparedReading:
    """A block range with COPY lines for its launches, which a reading thread made while PostgreSQL was busy."""

    reading: RangeFacts
    # The pool selection at the time of the request.
    pools: PoolSelection | None
    lines: Mapping[LaunchKey, LaunchLine]


def read_history(
    coverage: Coverage,
    *,
    chain: Chain,
    target: Callable[[], int],
    control: RetryControl,
    sum_up_after: int = _SUM_UP_AFTER,
    written_at_once: int = MAX_WRITTEN_TRANSACTIONS,
) -> Iterator[HistoryStep]:
    """Read and write all blocks that the coverage lacks up to `target()`, which must be final. Yield a step per write.

    Ends at the target, or soon after it is stopped. A range that no node returns is retried without limit, and nothing
    above it is written before it. After each `sum_up_after` new trades they are summed up; the caller sums up the rest.
    Raises ProgressConflictError, and as `Chain.read_range` except NodeUnavailableError.
    """
    coverage.refresh_from_db()
    pools = FollowedPools(select_followed_pools(chain.info) if covers_trades(coverage, chain.info) else None)

    def accepts(read: _PreparedReading) -> bool:
        if read.pools is not pools.selection:
            return False
        pools.add_launched(read.reading.transactions)
        return True

    job = PrefetchJob[_PreparedReading](
        read=_reader(coverage, chain, pools),
        count=lambda read: count_contents(read.reading),
        longest=chain.range_blocks,
        target=target,
        control=control,
        accepts=accepts,
    )
    with (
        prefetching(job, first=coverage.followed_to + 1) as prefetcher,
        ThreadPoolExecutor(1, thread_name_prefix="convert") as converter,
    ):
        writer = _Writer(coverage=coverage, target=target, prefetcher=prefetcher, converter=converter, chain=chain.info)
        unsummed, batches = 0, deque[_WriteBatch]()
        while batches := batches or deque(_next_batches(prefetcher, most=written_at_once)):
            batch = batches.popleft()
            if batch.reading.swaps and not batches:
                # Only complete ranges: a slow node must not delay the write.
                batches.extend(_next_batches(prefetcher, most=written_at_once, blocking=False))
            step = writer.write(batch, following=batches[0] if batches else None)
            yield step
            unsummed += step.trades
            if unsummed >= sum_up_after:
                sum_up(coverage, chain=chain.info, stop=control.stop)
                unsummed = 0


def block_progress(row: Coverage, part: str, *, done_to: int, last: int) -> Progress:
    """Return the progress from the row's first block to the last one; blocks up to `done_to` are done."""
    labels = {"chain": row.chain_id, "blocks": f"{row.first_block}-{last}"}
    return Progress(part=part, unit="blocks", begin=row.first_block - 1, end=last, position=done_to, labels=labels)


def join_head(coverage: Coverage, *, chain: Chain, stop: Event) -> bool:
    """Read the reorg window's blocks again, above the history. Return whether the coverage has reached the head.

    The head wrote these blocks before the history had all tokens, so they may hold events about tokens that it skipped.
    Once joined, the head advances the coverage with each block (`coverage.advance_joined`), except blocks read without
    all pools: they are read again here. Return False, to be retried soon, while the history is not there yet, the
    window changes, or after a stop. Raises ProgressConflictError, and as `Chain.read_blocks`.
    """
    while not stop.is_set():
        coverage.refresh_from_db()
        window = _window(coverage)
        if not window:
            return True
        if window[0].number != coverage.followed_to + 1:
            return False
        headers = chain.read_headers([block.number for block in window])
        if [headers[block.number].hash for block in window if block.number in headers] != _hashes(window):
            return False
        pools = select_followed_pools(chain.info) if covers_trades(coverage, chain.info) else None
        reading = chain.read_blocks([headers[block.number] for block in window], pools=pools)
        with transaction.atomic():
            chain_lock.lock_exclusive(chain.info.chain_id)
            # Locked, so that the head neither drops nor adds a block before this commits.
            if _hashes(_window(coverage)[: len(window)]) != _hashes(window):
                return False
            writing.write_transactions(reading.transactions, chain=chain.info)
            trade_writing.store_trades(reading.swaps, reading.liquidity_changes, chain=chain.info, live=True)
            trade_writing.price_launches(reading.transactions, chain=chain.info)
            IndexRequest.objects.add_undecodable(chain.info.chain_id, reading.undecodable)
            advance_followed(coverage, to=window[-1].number)
    return False


def sum_up(coverage: Coverage, *, chain: ChainInfo, stop: Event) -> int:
    """Count trades written as history in candles, rolling sums and markets. Return how many tokens were counted.

    The coverage stores the progress: after a stop or kill, the next call does the rest. Raises ProgressConflictError if
    the blocks were unwound meanwhile.
    """
    first, last = coverage.summed_to + 1, coverage.followed_to
    if not covers_trades(coverage, chain) or last < first:
        return 0
    tokens = trade_writing.find_traded_tokens(coverage.chain_id, first, last)
    # Short transactions, between which blocks are written.
    for batch in _split_tokens(tokens):
        if stop.is_set():
            return 0
        with transaction.atomic():
            tune_bulk_transaction()
            chain_lock.lock_exclusive(coverage.chain_id)
            trade_writing.sum_up(coverage.chain_id, batch)
    with transaction.atomic():
        chain_lock.lock_exclusive(coverage.chain_id)
        trade_writing.refresh_starting_prices(coverage.chain_id)
    # The row in memory is not refreshed: the next write compares it with the stored one. Blocks that the head has added
    # meanwhile are summed up in the next round, and later ones count at once (`coverage.advance_joined`).
    if not Coverage.objects.filter(pk=coverage.pk, followed_to__gte=last).update(summed_to=last):
        raise ProgressConflictError(f"{coverage}: its blocks were unwound while they were summed up")
    coverage.summed_to = last
    return len(tokens)


def _split_tokens(tokens: Sequence[UnsummedToken]) -> Iterator[list[UnsummedToken]]:
    """Yield batches with at most _SUMMED_TOKENS tokens and _SUMMED_TRADES trades; a token with more has its own."""
    batch: list[UnsummedToken] = []
    trades = 0
    for token in tokens:
        if batch and (len(batch) == _SUMMED_TOKENS or trades + token.trades > _SUMMED_TRADES):
            yield batch
            batch, trades = [], 0
        batch.append(token)
        trades += token.trades
    if batch:
        yield batch


def _reader(coverage: Coverage, chain: Chain, pools: FollowedPools) -> Callable[[int, int], _PreparedReading]:
    contracts = event_contracts(coverage, chain.info)
    # Events without launches are read from all contracts, because factories emit claims, too.
    is_later = not covers_launches(coverage, chain.info) and covers_events(coverage, chain.info)

    def read(first: int, last: int) -> _PreparedReading:
        selection = pools.selection
        reading = chain.read_range(first, last, addresses=None if is_later else contracts, pools=selection)
        reading = replace(reading, transactions=_covered(reading.transactions, coverage, chain.info))
        lines = make_launch_lines(reading.transactions, chain=chain.info)
        return _PreparedReading(reading=reading, pools=selection, lines=lines)

    return read


def _covered(
    transactions: tuple[TransactionFacts, ...], coverage: Coverage, chain: ChainInfo
) -> tuple[TransactionFacts, ...]:
    """Return the transactions, without launches or events that the coverage leaves out."""
    if covers_launches(coverage, chain):
        return transactions
    if not covers_events(coverage, chain):
        return ()
    return tuple(replace(facts, launches=()) for facts in transactions if facts.event_logs)


class _WriteBatch(NamedTuple):
    """Contents that one database transaction writes."""

    reading: RangeFacts
    lines: Mapping[LaunchKey, LaunchLine]


def _next_batches(prefetcher: Prefetcher[_PreparedReading], *, most: int, blocking: bool = True) -> list[_WriteBatch]:
    """Return the next ranges in batches up to `most` transactions, or one block; none as `Prefetcher.next_batch`."""
    results = prefetcher.next_batch(limit=most, blocking=blocking)
    if not results:
        return []
    lines = {key: line for result in results for key, line in result.lines.items()}
    joined = join_ranges([result.reading for result in results])
    return [_WriteBatch(reading, lines) for reading in split_between_blocks(joined, most=most)]


@dataclass(kw_only=True, slots=True)
class _Writer:
    """Writer for a coverage row's blocks, in the calling thread.

    Another thread converts the next batch's swaps while PostgreSQL works.
    """

    coverage: Coverage
    chain: ChainInfo
    # As for `read_history`.
    target: Callable[[], int]
    prefetcher: Prefetcher[_PreparedReading]
    converter: ThreadPoolExecutor
    _tokens: PoolTokenCache = field(init=False)
    _prepared: "Future[PreparedTrades] | None" = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._tokens = PoolTokenCache(self.chain)

    def write(self, batch: _WriteBatch, *, following: _WriteBatch | None) -> HistoryStep:
        """Write the next batch in one database transaction. Raises ProgressConflictError.

        `following` is the next call's batch, if it is complete.
        """
        before, chain, reading = self.coverage.followed_to, self.chain, batch.reading
        with transaction.atomic():
            tune_bulk_transaction()
            # Progress first: a second concurrent writer blocks here until the first one commits, and wastes no work.
            chain_lock.lock_exclusive(chain.chain_id)
            if reading.last > self.target():
                raise ProgressConflictError(
                    f"{self.coverage}: block {reading.last} was read before the chain was halted or unwound"
                )
            advance_followed(self.coverage, to=reading.last)
            writing.leave_out_old_events(reading.transactions)
            writing.write_transactions(reading.transactions, chain=chain, lines=batch.lines, final=True)
            prepared, self._prepared = self._prepared, self._prepare(following, before=reading) if following else None
            stored = trade_writing.store_trades(
                reading.swaps,
                reading.liquidity_changes,
                chain=chain,
                live=False,
                cache=self._tokens,
                prepared=prepared.result() if prepared else None,
            )
            IndexRequest.objects.add_undecodable(chain.chain_id, reading.undecodable)
        return HistoryStep(
            to=reading.last,
            blocks=reading.last - before,
            launches=sum(len(facts.launches) for facts in reading.transactions),
            transactions=len(reading.transactions),
            trades=stored.trades,
        )

    def _prepare(self, batch: _WriteBatch, *, before: RangeFacts) -> "Future[PreparedTrades]":
        """Begin to convert a batch's swaps."""
        launched = {launch.token for facts in batch.reading.transactions for launch in facts.launches}
        convert = trade_writing.prepare_trades(
            batch.reading.swaps,
            before=before.swaps,
            launched=launched,
            cache=self._tokens,
            liquidity_changes=[*before.liquidity_changes, *batch.reading.liquidity_changes],
        )

        def compute() -> PreparedTrades:
            with self.prefetcher.computing():
                return convert()

        return self.converter.submit(compute)


def _window(coverage: Coverage) -> list[FollowedBlock]:
    """Return the next reorg window blocks that the coverage lacks."""
    followed = FollowedBlock.objects.filter(chain_id=coverage.chain_id, number__gt=coverage.followed_to)
    return list(followed.order_by("number")[:MAX_JOINED_BLOCKS])


def _hashes(window: Sequence[FollowedBlock]) -> list[str]:
    return [block.hash for block in window]


def follow_history(session: LeaderSession) -> None:
    """Read final blocks and join the head, again and again, until the session ends."""
    chain = installed_chain(session.chain_id)
    while not session.ended.is_set():
        begin_request()
        final = chain_heads.read_final_block(session.chain_id)
        if final is not None:
            for row in open_live_coverage(chain.info, final=final):
                _go_on(row, session)
        session.ended.wait(_CHECK_SECONDS)


def _go_on(row: Coverage, session: LeaderSession) -> None:
    """Advance one coverage row as far as possible. Later blocks are left to the next round."""
    control = session.control(HISTORY)
    try:
        _read(row, control)
    except ProgressConflictError:
        # A reorg unwound some blocks, or another process has taken over; the leader lock decides that.
        return
    except RetryableError as error:
        session.ended.wait(control.record(error))
    else:
        control.clear()


def _read(row: Coverage, control: RetryControl) -> None:
    chain = installed_chain(row.chain_id)

    def target() -> int:
        final = chain_heads.read_final_block(row.chain_id)
        return -1 if final is None else final

    before = row.followed_to
    progress, counts = None, Counter[str]()
    for step in read_history(row, chain=chain, target=target, control=control):
        progress = progress or block_progress(row, "history", done_to=before, last=max(target(), step.to))
        counts.update(launches=step.launches, transactions=step.transactions, trades=step.trades)
        progress.advance(step.to, counts)
    if progress:
        progress.finish()
    if join_head(row, chain=chain, stop=control.stop):
        sum_up(row, chain=chain.info, stop=control.stop)
