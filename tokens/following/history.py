"""Historical sync of a chain: ranges of final blocks, prefetched and written in order with their progress."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event

from django.db import transaction

from config.http.errors import RetryableError
from config.postgresql.bulk_load import commit_asynchronously
from config.progress import Progress
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
from tokens.following.prefetch import PrefetchJob, RetryControl, prefetching
from tokens.indexing import chain_lock, writing
from tokens.indexing.launch_rows import LaunchKey, LaunchLine, make_launch_lines
from tokens.installation.installed_chains import installed_chain
from tokens.models import Coverage, FollowedBlock
from tokens.trades import trade_writing

# The most blocks of the reorg window that are read at once.
MAX_JOINED_BLOCKS = 100
# The name of this loop among the failures.
HISTORY = "history"

# The most tokens that are summed up in a transaction: meanwhile no block is written.
_SUMMED = 1_000
# Seconds between two checks for blocks to read.
_CHECK_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryStep:
    """Blocks that were written: the last one, how many, and the counts of what they held."""

    to: int
    blocks: int
    launches: int
    transactions: int
    trades: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _PreparedReading:
    """A range of blocks with the COPY lines of its launches, which a reading thread made while PostgreSQL was busy."""

    reading: RangeFacts
    # The pools that were known when it was requested.
    pools: PoolSelection | None
    lines: Mapping[LaunchKey, LaunchLine]


def read_history(
    coverage: Coverage, *, chain: Chain, target: Callable[[], int], control: RetryControl
) -> Iterator[HistoryStep]:
    """Read and write all blocks that the coverage lacks up to `target()`, which must be final. Yield a step per write.

    Ends at the target, or soon after it is stopped. A range that no node returns is retried without limit, and nothing
    above it is written before it. Raises ProgressConflictError, and what `Chain.read_range` raises except
    NodeUnavailableError.
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
    with prefetching(job, first=coverage.followed_to + 1) as prefetcher:
        while batch := prefetcher.next_batch(limit=MAX_WRITTEN_TRANSACTIONS):
            lines = {key: line for read in batch for key, line in read.lines.items()}
            for part in split_between_blocks(join_ranges([read.reading for read in batch])):
                yield _write(coverage, part, chain=chain, lines=lines, target=target)


def block_progress(row: Coverage, part: str, *, done_to: int, last: int) -> Progress:
    """Return the progress from the row's first block to the last one, of which those up to `done_to` are done."""
    labels = {"chain": row.chain_id, "blocks": f"{row.first_block}-{last}"}
    return Progress(part=part, unit="blocks", begin=row.first_block - 1, end=last, position=done_to, labels=labels)


def join_head(coverage: Coverage, *, chain: Chain, stop: Event) -> bool:
    """Read the blocks of the reorg window again, above the history. Return whether the coverage has reached the head.

    The head wrote them before the history had found all tokens, and their events may be among them. Once joined, the
    head advances the coverage with each block (`coverage.advance_joined`). Return False, to be retried soon, while the
    history is not there yet, the window changes, or after a stop. Raises ProgressConflictError, and as
    `Chain.read_blocks`.
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
            advance_followed(coverage, to=window[-1].number)
    return False


def sum_up(coverage: Coverage, *, chain: ChainInfo) -> int:
    """Count the trades that were written as history in rolling sums and markets. Return the number of tokens.

    The coverage stores how far this was done: after a kill, the next call does the rest.
    """
    if not covers_trades(coverage, chain) or coverage.summed_to >= coverage.followed_to:
        return 0
    token_ids = trade_writing.find_tokens_since(coverage.chain_id, first=coverage.summed_to + 1)
    # Short transactions, between which blocks are written.
    for place in range(0, len(token_ids), _SUMMED):
        with transaction.atomic():
            chain_lock.lock_exclusive(coverage.chain_id)
            trade_writing.recount_tokens(coverage.chain_id, token_ids[place : place + _SUMMED])
    with transaction.atomic():
        chain_lock.lock_exclusive(coverage.chain_id)
        # Trades that the head has written meanwhile count at once.
        coverage.refresh_from_db()
        coverage.summed_to = coverage.followed_to
        coverage.save(update_fields=["summed_to"])
    return len(token_ids)


def _reader(coverage: Coverage, chain: Chain, pools: FollowedPools) -> Callable[[int, int], _PreparedReading]:
    contracts = event_contracts(coverage, chain.info)
    # Events without launches are those of all contracts, because factories emit claims, too.
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
    """Return the transactions without what the coverage leaves out."""
    if covers_launches(coverage, chain):
        return transactions
    if not covers_events(coverage, chain):
        return ()
    return tuple(replace(facts, launches=()) for facts in transactions if facts.event_logs)


def _write(
    coverage: Coverage,
    reading: RangeFacts,
    *,
    chain: Chain,
    lines: Mapping[LaunchKey, LaunchLine],
    target: Callable[[], int],
) -> HistoryStep:
    before = coverage.followed_to
    with transaction.atomic():
        commit_asynchronously()
        # Progress first: of two concurrent writers, one blocks here until the other commits, and has wasted no work.
        chain_lock.lock_exclusive(chain.info.chain_id)
        if reading.last > target():
            raise ProgressConflictError(
                f"{coverage}: block {reading.last} was read before the chain was halted or unwound"
            )
        advance_followed(coverage, to=reading.last)
        writing.write_transactions(reading.transactions, chain=chain.info, lines=lines)
        # What leaves a period is subtracted from its sums, so that it has to be in them.
        live = trade_writing.is_counted(reading.swaps, chain.info.chain_id)
        stored = trade_writing.store_trades(reading.swaps, reading.liquidity_changes, chain=chain.info, live=live)
    return HistoryStep(
        to=reading.last,
        blocks=reading.last - before,
        launches=sum(len(facts.launches) for facts in reading.transactions),
        transactions=len(reading.transactions),
        trades=stored.trades,
    )


def _window(coverage: Coverage) -> list[FollowedBlock]:
    """Return the next blocks of the reorg window that the coverage lacks."""
    followed = FollowedBlock.objects.filter(chain_id=coverage.chain_id, number__gt=coverage.followed_to)
    return list(followed.order_by("number")[:MAX_JOINED_BLOCKS])


def _hashes(window: Sequence[FollowedBlock]) -> list[str]:
    return [block.hash for block in window]


def follow_history(session: LeaderSession) -> None:
    """Read final blocks and join the head, again and again, until the session ends."""
    chain = installed_chain(session.chain_id)
    while not session.ended.is_set():
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
        # A reorg unwound some of it, or another process has batch over; the leader lock decides that.
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
        sum_up(row, chain=chain.info)
