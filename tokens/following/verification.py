"""Verification of final blocks: a second reading from nodes, and the repair of rows that are missing or invented."""

import logging
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from django.conf import settings
from django.db import transaction

from config.http.errors import RetryableError
from tokens.chains.evm.evm_chain import Chain
from tokens.following import chain_heads
from tokens.following.coverage import ProgressConflictError, advance_verified, live_rows
from tokens.following.leader_loops import LeaderSession
from tokens.following.log_rows import LogId, find_altered_transactions, find_log_rows, is_of_later_token, log_ids
from tokens.following.prefetch import PrefetchJob, RetryControl, prefetching
from tokens.following.second_reading import SecondReading, read_from_receipts, read_second
from tokens.indexing import chain_lock, unwinding, writing
from tokens.installation.installed_chains import installed_chain, installed_chain_second_node_first
from tokens.models import Coverage, CoverageAlarm

logger = logging.getLogger(__name__)

# The most blocks of a run: their headers are in memory, and an alarm should name a narrow range.
MAX_RUN_BLOCKS = 2000
# The most transactions that an alarm names.
MAX_NAMED_TRANSACTIONS = 100
# The name of this loop among the failures.
CHECKS = "checks"

# This many waiting blocks are verified at once, without waiting for FOLLOW_VERIFY_SECONDS.
MANY_BLOCKS = 100
# Seconds between two checks for blocks to verify.
_CHECK_SECONDS = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifiedRun:
    """A run of verified blocks: the last one, how many, and how many rows were wrong."""

    to: int
    blocks: int
    missing: int
    invented: int


def verify_coverage(
    coverage: Coverage, *, chain: Chain, alternate: Chain, target: Callable[[], int], control: RetryControl
) -> Iterator[VerifiedRun]:
    """Verify all followed blocks up to `target()`, which must be final. Yield each run once it is repaired and stored.

    Ends at the target, or soon after it is stopped. Calls to nodes are retried without limit. Raises
    ProgressConflictError.
    """
    coverage.refresh_from_db()
    addresses = frozenset(coverage.addresses)
    job = PrefetchJob[SecondReading](
        read=partial(read_second, chain, alternate, addresses=addresses, method=settings.FOLLOW_VERIFY),
        count=lambda reading: len(reading.transactions),
        longest=lambda: min(alternate.range_blocks(), MAX_RUN_BLOCKS),
        target=lambda: min(target(), coverage.followed_to),
        control=control,
    )
    with prefetching(job, first=coverage.verified_to + 1) as prefetcher:
        while readings := prefetcher.next_batch(limit=1):
            for reading in readings:
                checked = _check(coverage, reading, target=target, control=control)
                if checked is None:
                    return
                yield checked


def _check(
    coverage: Coverage, reading: SecondReading, *, target: Callable[[], int], control: RetryControl
) -> VerifiedRun | None:
    """Repair the rows of a run. Return None after a stop, or if the chain was unwound below the run."""
    while not control.stop.is_set():
        with transaction.atomic():
            chain_lock.lock_exclusive(coverage.chain_id)
            rows = find_log_rows(coverage, reading.first, reading.last)
            read_ids = log_ids(reading.transactions)
            # Blocks with rows that the reading lacks, unless it proves that the block lacks them.
            doubtful = {number for log, number in rows.items() if log not in read_ids} - reading.proven
            if not doubtful:
                return _settle(coverage, reading, before=rows, read_ids=read_ids)
        # A response without stored rows is no proof: the receipts of the blocks themselves must show that they hold
        # none.
        try:
            reading = read_from_receipts(reading, doubtful, addresses=coverage.addresses)
        except RetryableError as error:
            if reading.last > target():
                return None
            control.stop.wait(control.record(error))
        else:
            control.clear()
    return None


def _settle(
    coverage: Coverage, reading: SecondReading, *, before: Mapping[LogId, int], read_ids: Collection[LogId]
) -> VerifiedRun:
    """Repair rows, raise an alarm if there was something to repair, and advance the coverage.

    `before` are the stored logs of these blocks, `read_ids` those of the reading.
    """
    foreign = {log.tx_hash for log in before if log not in read_ids}
    if foreign:
        unwinding.unwind_transactions(coverage.chain_id, sorted(foreign))
    # Transactions with all their rows are not written again. Logs of untrusted emitters have no rows.
    again = foreign | find_altered_transactions(coverage, reading.transactions)
    rewritten = [
        facts for facts in reading.transactions if facts.tx_hash in again or not before.keys() >= log_ids([facts])
    ]
    after = before
    if rewritten or foreign:
        writing.write_transactions(rewritten, chain=reading.chain.info)
        after = find_log_rows(coverage, reading.first, reading.last)
    missing = {log for log in after if log not in before and not is_of_later_token(coverage, log)}
    invented = {log for log in before if log not in after}
    if missing or invented:
        _raise_alarm(coverage, reading, missing=missing, invented=invented)
    blocks = reading.last - coverage.verified_to
    advance_verified(coverage, to=reading.last)
    return VerifiedRun(to=reading.last, blocks=blocks, missing=len(missing), invented=len(invented))


def _raise_alarm(coverage: Coverage, reading: SecondReading, *, missing: set[LogId], invented: set[LogId]) -> None:
    hashes = sorted({log.tx_hash for log in missing | invented})
    CoverageAlarm.objects.create(
        chain_id=coverage.chain_id,
        first_block=reading.first,
        last_block=reading.last,
        missing=len(missing),
        invented=len(invented),
        tx_hashes=hashes[:MAX_NAMED_TRANSACTIONS],
        repaired=True,
    )
    logger.error(
        "chain=%s blocks=%s-%s missing=%s invented=%s repaired: nodes had omitted or invented logs",
        coverage.chain_id,
        reading.first,
        reading.last,
        len(missing),
        len(invented),
    )


def verify_final(session: LeaderSession) -> None:
    """Verify every final followed block some time after it became final, until the session ends."""
    checked_at = time.monotonic()
    while not session.ended.wait(_CHECK_SECONDS):
        final = chain_heads.read_final_block(session.chain_id)
        if final is None:
            continue
        # Only after the historical sync, which is enough load for nodes and database.
        rows = [row for row in live_rows(session.chain_id) if row.followed_to >= final]
        waiting = max((final - row.verified_to for row in rows), default=0)
        due = time.monotonic() - checked_at >= settings.FOLLOW_VERIFY_SECONDS
        # Negative while the first block of the coverage lies ahead.
        if waiting >= MANY_BLOCKS or (waiting > 0 and due):
            for row in rows:
                _verify_row(row, session)
            checked_at = time.monotonic()


def _verify_row(row: Coverage, session: LeaderSession) -> None:
    control = session.control(CHECKS)

    def target() -> int:
        final = chain_heads.read_final_block(row.chain_id)
        return -1 if final is None else final

    chain, alternate = installed_chain(row.chain_id), installed_chain_second_node_first(row.chain_id)
    try:
        for _ in verify_coverage(row, chain=chain, alternate=alternate, target=target, control=control):
            pass
    except (ProgressConflictError, Coverage.DoesNotExist):
        # Blocks were unwound, or a row of more contracts has caught up and replaced this one.
        return
    except RetryableError as error:
        session.ended.wait(control.record(error))
    else:
        control.clear()
