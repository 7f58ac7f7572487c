"""Historical sync of a chain: ranges of final blocks, prefetched and written in order with their progress."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from threading import Event

from django.db import transaction

from config.http.errors import RetryableError
from config.postgresql.bulk_load import commit_asynchronously
from config.progress import Progress
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.types import RangeFacts, TransactionFacts
from tokens.following import chain_heads
from tokens.following.coverage import ProgressConflictError, advance_followed, covers_launches, open_live_coverage
from tokens.following.leader_loops import LeaderSession
from tokens.following.prefetch import PrefetchJob, RetryControl, prefetching
from tokens.indexing import chain_lock, writing
from tokens.indexing.launch_rows import LaunchKey, LaunchLine, make_launch_lines
from tokens.installation.installed_chains import installed_chain
from tokens.models import Coverage, FollowedBlock

# The most transactions in one database transaction. Those of a block are never split.
MAX_WRITTEN_TRANSACTIONS = 2000
# The most blocks of the reorg window that are read at once.
MAX_JOINED_BLOCKS = 100
# The name of this loop among the failures.
HISTORY = "history"

# Seconds between two checks for blocks to read.
_CHECK_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryStep:
    """Blocks that were written: the last one, how many, and the counts of what they held."""

    to: int
    blocks: int
    launches: int
    transactions: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _PreparedReading:
    """A range of blocks with the COPY lines of its launches, which a reading thread made while PostgreSQL was busy."""

    reading: RangeFacts
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
    job = PrefetchJob[_PreparedReading](
        read=_reader(coverage, chain),
        count=lambda read: len(read.reading.transactions),
        longest=chain.range_blocks,
        target=target,
        control=control,
    )
    with prefetching(job, first=coverage.followed_to + 1) as prefetcher:
        while batch := prefetcher.next_batch(limit=MAX_WRITTEN_TRANSACTIONS):
            transactions = [facts for read in batch for facts in read.reading.transactions]
            lines = {key: line for read in batch for key, line in read.lines.items()}
            for to, part in split_between_blocks(transactions, last=batch[-1].reading.last):
                yield _write(coverage, part, chain=chain, to=to, lines=lines, target=target)


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
        reading = chain.read_blocks([headers[block.number] for block in window])
        with transaction.atomic():
            chain_lock.lock_exclusive(chain.info.chain_id)
            # Locked, so that the head neither drops nor adds a block before this commits.
            if _hashes(_window(coverage)[: len(window)]) != _hashes(window):
                return False
            writing.write_transactions(reading.transactions, chain=chain.info)
            advance_followed(coverage, to=window[-1].number)
    return False


def split_between_blocks(
    transactions: Sequence[TransactionFacts], *, last: int
) -> Iterator[tuple[int, list[TransactionFacts]]]:
    """Split transactions in chain order between blocks. Yield each part with the block up to which it is complete."""
    part: list[TransactionFacts] = []
    for _, block in groupby(transactions, key=lambda facts: facts.block_number):
        of_block = list(block)
        if part and len(part) + len(of_block) > MAX_WRITTEN_TRANSACTIONS:
            # All earlier blocks are complete.
            yield of_block[0].block_number - 1, part
            part = []
        part += of_block
    yield last, part


def _reader(coverage: Coverage, chain: Chain) -> Callable[[int, int], _PreparedReading]:
    if covers_launches(coverage, chain.info):
        addresses = frozenset(coverage.addresses)

        def read_launches(first: int, last: int) -> _PreparedReading:
            reading = chain.read_range(first, last, addresses=addresses)
            return _PreparedReading(reading=reading, lines=make_launch_lines(reading.transactions, chain=chain.info))

        return read_launches

    def read_events(first: int, last: int) -> _PreparedReading:
        # Of all contracts, because factories emit claims, too.
        reading = chain.read_range(first, last)
        with_events = (replace(facts, launches=()) for facts in reading.transactions if facts.event_logs)
        return _PreparedReading(reading=replace(reading, transactions=tuple(with_events)), lines={})

    return read_events


def _write(
    coverage: Coverage,
    transactions: Sequence[TransactionFacts],
    *,
    chain: Chain,
    to: int,
    lines: Mapping[LaunchKey, LaunchLine],
    target: Callable[[], int],
) -> HistoryStep:
    before = coverage.followed_to
    with transaction.atomic():
        commit_asynchronously()
        # Progress first: of two concurrent writers, one blocks here until the other commits, and has wasted no work.
        chain_lock.lock_exclusive(chain.info.chain_id)
        if to > target():
            raise ProgressConflictError(f"{coverage}: block {to} was read before the chain was halted or unwound")
        advance_followed(coverage, to=to)
        writing.write_transactions(transactions, chain=chain.info, lines=lines)
    return HistoryStep(
        to=to,
        blocks=to - before,
        launches=sum(len(facts.launches) for facts in transactions),
        transactions=len(transactions),
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
        counts.update(launches=step.launches, transactions=step.transactions)
        progress.advance(step.to, counts)
    if progress:
        progress.finish()
    join_head(row, chain=chain, stop=control.stop)
