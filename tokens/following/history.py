"""The past of a chain: its blocks read in ranges, several at a time, and written in order with their progress."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from threading import Event

from django.db import transaction

from config.http.json_client import Retryable
from config.postgresql.bulk_load import commit_lazily
from tokens.chains.protocols import Chain
from tokens.chains.types import Reading, TransactionFacts
from tokens.following import chain_heads, coverage
from tokens.following import coverage as progress
from tokens.following.coverage import Overtaken
from tokens.following.leader_loops import Term
from tokens.following.prefetch import Watch, Work, reading_ahead
from tokens.following.progress_display import Progress
from tokens.indexing import chain_lock, writing
from tokens.indexing.launch_rows import LaunchKey, LaunchLine, make_lines
from tokens.installation.installed_chains import installed_chain
from tokens.models import Coverage, FollowedBlock

# So many transactions are written at a time, in one transaction of the database: those of a block stay together.
WRITTEN_AT_ONCE = 2000
# So many blocks of the window are read at a time.
JOINED_AT_ONCE = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """Blocks that are written: the last one, how many, and what they held."""

    to: int
    blocks: int
    launches: int
    transactions: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Read:
    """A reading, and the lines of its launches, which its thread made while the database was waited for."""

    reading: Reading
    lines: Mapping[LaunchKey, LaunchLine]


def read_history(coverage: Coverage, *, chain: Chain, target: Callable[[], int], watch: Watch) -> Iterator[Step]:
    """Read and write all blocks that the row lacks up to `target()`, which must be final; a step for each write.

    Ends at the target, or soon after it is stopped. A range that no node tells is tried again for ever, and nothing
    behind it is written before it.
    Raises Overtaken, and what `Chain.read_range` raises beside NodeUnavailable.
    """
    coverage.refresh_from_db()
    work = Work[_Read](
        read=_reader(coverage, chain),
        count=lambda read: len(read.reading.transactions),
        longest=chain.range_blocks,
        target=target,
        watch=watch,
    )
    with reading_ahead(work, first=coverage.followed_to + 1) as ahead:
        while taken := ahead.take(most=WRITTEN_AT_ONCE):
            transactions = [facts for read in taken for facts in read.reading.transactions]
            lines = {key: line for read in taken for key, line in read.lines.items()}
            for to, part in parts(transactions, last=taken[-1].reading.last):
                yield _write(coverage, part, chain=chain, to=to, lines=lines, target=target)


def join(coverage: Coverage, *, chain: Chain, stop: Event) -> bool:
    """Read the window's blocks once more, behind the history; whether the row has reached the head.

    The head wrote them before the tokens were known that the history found, whose events may be among them. From then
    on the head moves the row with each block (`coverage.advance_joined`). False where the history is not there yet,
    where the window is changing, or all is to stop: to be tried again soon. Raises Overtaken, and as
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
            chain_lock.own(chain.info.chain_id)
            # Owned, so that the head neither drops nor adds a block before this is committed.
            if _hashes(_window(coverage)[: len(window)]) != _hashes(window):
                return False
            writing.write(reading.transactions, chain=chain.info)
            progress.advance(coverage, to=window[-1].number)
    return False


def parts(transactions: Sequence[TransactionFacts], *, last: int) -> Iterator[tuple[int, list[TransactionFacts]]]:
    """Transactions in the chain's order, cut between blocks; with each part the block up to which it is complete."""
    part: list[TransactionFacts] = []
    for _, block in groupby(transactions, key=lambda facts: facts.block_number):
        of_block = list(block)
        if part and len(part) + len(of_block) > WRITTEN_AT_ONCE:
            # All blocks before this one are told.
            yield of_block[0].block_number - 1, part
            part = []
        part += of_block
    yield last, part


def _reader(coverage: Coverage, chain: Chain) -> Callable[[int, int], _Read]:
    if progress.wants_launches(coverage, chain.info):
        addresses = frozenset(coverage.addresses)

        def read_launches(first: int, last: int) -> _Read:
            reading = chain.read_range(first, last, addresses=addresses)
            return _Read(reading=reading, lines=make_lines(reading.transactions, chain=chain.info))

        return read_launches

    def read_events(first: int, last: int) -> _Read:
        # Of all contracts: a factory tells of claims, too.
        reading = chain.read_range(first, last)
        with_events = (replace(facts, launches=()) for facts in reading.transactions if facts.event_logs)
        return _Read(reading=replace(reading, transactions=tuple(with_events)), lines={})

    return read_events


def _write(
    coverage: Coverage,
    transactions: Sequence[TransactionFacts],
    *,
    chain: Chain,
    to: int,
    lines: Mapping[LaunchKey, LaunchLine],
    target: Callable[[], int],
) -> Step:
    before = coverage.followed_to
    with transaction.atomic():
        commit_lazily()
        # Progress first: whoever was overtaken waits here for the other one's commit, and has done nothing in vain.
        chain_lock.own(chain.info.chain_id)
        if to > target():
            raise progress.Overtaken(f"{coverage}: block {to} was read before the chain was halted or taken back")
        progress.advance(coverage, to=to)
        writing.write(transactions, chain=chain.info, lines=lines)
    return Step(
        to=to,
        blocks=to - before,
        launches=sum(len(facts.launches) for facts in transactions),
        transactions=len(transactions),
    )


def _window(coverage: Coverage) -> list[FollowedBlock]:
    """The next blocks of the head's window that the row has not read."""
    followed = FollowedBlock.objects.filter(chain_id=coverage.chain_id, number__gt=coverage.followed_to)
    return list(followed.order_by("number")[:JOINED_AT_ONCE])


def _hashes(window: Sequence[FollowedBlock]) -> list[str]:
    return [block.hash for block in window]


# A chain's past, read until the turn ends: behind the head, for each row of progress in its turn.
# What troubles call this loop.
HISTORY = "history"

# How often it is looked whether there is something to do, in seconds.
_LOOK_SECONDS = 1.0


def follow_history(term: Term) -> None:
    """Read what lies below the window and join the head, again and again, until the turn ends."""
    chain = installed_chain(term.chain_id)
    while not term.ended.is_set():
        final = chain_heads.read_final(term.chain_id)
        if final is not None:
            for row in coverage.open_live(chain.info, final=final):
                _go_on(row, term)
        term.ended.wait(_LOOK_SECONDS)


def _go_on(row: Coverage, term: Term) -> None:
    """Bring one row as far as the chain is; what moves meanwhile is left to the next time."""
    watch = term.watch(HISTORY)
    try:
        _read(row, watch)
    except Overtaken:
        # A reorganisation took back some of it. Whoever else leads the chain by now will be told by the lock.
        return
    except Retryable as error:
        term.ended.wait(watch.note(error))
    else:
        watch.clear()


def _read(row: Coverage, watch: Watch) -> None:
    chain = installed_chain(row.chain_id)

    def target() -> int:
        final = chain_heads.read_final(row.chain_id)
        return -1 if final is None else final

    before = row.followed_to
    progress = None
    for step in read_history(row, chain=chain, target=target, watch=watch):
        progress = progress or Progress(
            chain_id=row.chain_id,
            part="history",
            first=row.first_block,
            last=max(target(), step.to),
            done_before=before,
        )
        progress.note(step.to, launches=step.launches, transactions=step.transactions)
    if progress:
        progress.finish()
    join(row, chain=chain, stop=watch.stop)
