"""Final blocks are read a second time, and rows that were missing, or that the chain does not have, are put right."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from django.conf import settings
from django.db import transaction

from config.http.json_client import Retryable
from tokens.chains.protocols import Chain
from tokens.following import coverage as progress
from tokens.following.log_rows import LogId, find_altered, find_rows, log_ids, was_learned
from tokens.following.prefetch import Watch, Work, reading_ahead
from tokens.following.second_reading import SecondReading, prove, read_again
from tokens.indexing import chain_lock, unwinding, writing
from tokens.models import Coverage, CoverageAlarm

logger = logging.getLogger(__name__)

# So many blocks make a run at the most: their headers are in memory, and an alarm should lead to a place.
CHECKED_AT_ONCE = 2000
# An alarm names so many transactions at the most.
NAMED = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """A run of blocks that was checked: its last block, how many blocks, and how many rows were wrong."""

    to: int
    blocks: int
    missing: int
    invented: int


def verify(
    coverage: Coverage, *, chain: Chain, otherwise: Chain, target: Callable[[], int], watch: Watch
) -> Iterator[Checked]:
    """Check all blocks that the row has followed and not checked up to `target()`, which must be final.

    A step for each run, once it is right and noted. Ends at the target, or soon after it is stopped; what nodes don't
    tell is asked for ever. Raises Overtaken.
    """
    coverage.refresh_from_db()
    addresses = frozenset(coverage.addresses)
    work = Work[SecondReading](
        read=partial(read_again, chain, otherwise, addresses=addresses, how=settings.FOLLOW_VERIFY),
        count=lambda reading: len(reading.transactions),
        longest=lambda: min(otherwise.range_blocks(), CHECKED_AT_ONCE),
        target=lambda: min(target(), coverage.followed_to),
        watch=watch,
    )
    with reading_ahead(work, first=coverage.verified_to + 1) as ahead:
        while readings := ahead.take(most=1):
            for reading in readings:
                checked = _check(coverage, reading, target=target, watch=watch)
                if checked is None:
                    return
                yield checked


def _check(coverage: Coverage, reading: SecondReading, *, target: Callable[[], int], watch: Watch) -> Checked | None:
    """Put right what the run lacks or has too much; None when all is to stop, or the chain was taken back."""
    while not watch.stop.is_set():
        with transaction.atomic():
            chain_lock.own(coverage.chain_id)
            doubtful = _doubtful(coverage, reading)
            if not doubtful:
                return _settle(coverage, reading)
        # Rows that a node leaves out are not taken away for it: the blocks themselves must say that they hold none.
        try:
            reading = prove(reading, doubtful, addresses=coverage.addresses)
        except Retryable as error:
            if reading.last > target():
                return None
            watch.stop.wait(watch.note(error))
        else:
            watch.clear()
    return None


def _doubtful(coverage: Coverage, reading: SecondReading) -> set[int]:
    """Blocks of which there are rows that the reading lacks, without a proof that the block does."""
    told = log_ids(reading.transactions)
    rows = find_rows(coverage, reading.first, reading.last)
    return {number for log, number in rows.items() if log not in told} - reading.proven


def _settle(coverage: Coverage, reading: SecondReading) -> Checked:
    """Repair, raise an alarm where there was something to repair, and move the row's progress."""
    before = find_rows(coverage, reading.first, reading.last)
    told = log_ids(reading.transactions)
    foreign = {log.tx_hash for log in before if log not in told}
    if foreign:
        unwinding.unwind_transactions(coverage.chain_id, sorted(foreign))
    # Whoever has all its rows is not written again; logs that nobody believes have none.
    again = foreign | find_altered(coverage, reading.transactions)
    news = [facts for facts in reading.transactions if facts.tx_hash in again or not before.keys() >= log_ids([facts])]
    after = before
    if news or foreign:
        writing.write(news, chain=reading.chain.info)
        after = find_rows(coverage, reading.first, reading.last)
    missing = {log for log in after if log not in before and not was_learned(coverage, log)}
    invented = {log for log in before if log not in after}
    if missing or invented:
        _raise_alarm(coverage, reading, missing=missing, invented=invented)
    blocks = reading.last - coverage.verified_to
    progress.advance_verified(coverage, to=reading.last)
    return Checked(to=reading.last, blocks=blocks, missing=len(missing), invented=len(invented))


def _raise_alarm(coverage: Coverage, reading: SecondReading, *, missing: set[LogId], invented: set[LogId]) -> None:
    hashes = sorted({log.tx_hash for log in missing | invented})
    CoverageAlarm.objects.create(
        chain_id=coverage.chain_id,
        first_block=reading.first,
        last_block=reading.last,
        missing=len(missing),
        invented=len(invented),
        tx_hashes=hashes[:NAMED],
        repaired=True,
    )
    logger.error(
        "chain=%s blocks=%s-%s missing=%s invented=%s repaired: nodes had left out or made up logs",
        coverage.chain_id,
        reading.first,
        reading.last,
        len(missing),
        len(invented),
    )
