"""Verification of final blocks: a second reading from nodes, and the repair of rows that are missing or invented."""

import logging
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from django.conf import settings
from django.db import transaction

from config.http.errors import RetryableError
from config.http.request_ids import begin_request
from tokens.chains.evm.evm_chain import Chain
from tokens.following import chain_heads
from tokens.following.block_contents import count_contents
from tokens.following.coverage import (
    ProgressConflictError,
    advance_verified,
    covers_events,
    covers_trades,
    event_contracts,
    live_rows,
)
from tokens.following.followed_pools import FollowedPools, select_followed_pools
from tokens.following.leader_loops import LeaderSession
from tokens.following.prefetch import PrefetchJob, RetryControl, prefetching
from tokens.following.verifying.log_rows import (
    LogId,
    find_altered_transactions,
    find_log_rows,
    is_of_later_token,
    log_ids,
)
from tokens.following.verifying.pool_log_repair import repair_pool_logs
from tokens.following.verifying.second_reading import SecondReading, UnprovenError, read_from_receipts, read_second
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
    pools = FollowedPools(select_followed_pools(chain.info) if covers_trades(coverage, chain.info) else None)
    verifier = _Verifier(
        coverage=coverage,
        addresses=event_contracts(coverage, chain.info),
        pools=pools,
        target=target,
        control=control,
    )

    def read(first: int, last: int) -> SecondReading:
        return read_second(
            chain,
            alternate,
            first,
            last,
            addresses=verifier.addresses,
            pools=pools.selection,
            method=settings.FOLLOW_VERIFY,
        )

    def accepts(reading: SecondReading) -> bool:
        pools.add_launched(reading.transactions)
        return reading.pools is pools.selection

    job = PrefetchJob[SecondReading](
        read=read,
        count=lambda reading: count_contents(reading.contents),
        longest=lambda: min(alternate.range_blocks(), MAX_RUN_BLOCKS),
        target=lambda: min(target(), coverage.followed_to),
        control=control,
        accepts=accepts,
    )
    with prefetching(job, first=coverage.verified_to + 1) as prefetcher:
        while readings := prefetcher.next_batch(limit=1):
            for reading in readings:
                checked = verifier.verify(reading)
                if checked is None:
                    return
                yield checked


@dataclass(frozen=True, kw_only=True)
class _Verifier:
    """The comparison of one coverage row's blocks with readings, and their repair."""

    coverage: Coverage
    addresses: frozenset[str]
    pools: FollowedPools
    target: Callable[[], int]
    control: RetryControl

    def verify(self, reading: SecondReading) -> VerifiedRun | None:
        """Repair the rows of a run. Return None after a stop, or if the chain was unwound below the run."""
        while not self.control.stop.is_set():
            try:
                with transaction.atomic():
                    chain_lock.lock_exclusive(self.coverage.chain_id)
                    return self._settle(reading)
            except UnprovenError as error:
                numbers = error.numbers
            # A response without stored rows is no proof: the receipts of the blocks themselves must show that they
            # hold none.
            try:
                reading = self._read_receipts(reading, numbers)
            except RetryableError as error:
                if reading.last > self.target():
                    return None
                self.control.stop.wait(self.control.record(error))
            else:
                self.control.clear()
        return None

    def _read_receipts(self, reading: SecondReading, numbers: Collection[int]) -> SecondReading:
        found = read_from_receipts(reading, numbers, addresses=self.addresses)
        self.pools.add_launched(found.transactions)
        if found.pools is self.pools.selection:
            return found
        # The receipts show a launch that both readings lacked: later blocks may hold logs of its pool.
        grown = replace(found, pools=self.pools.selection)
        return read_from_receipts(grown, range(grown.first, grown.last + 1), addresses=self.addresses)

    def _settle(self, reading: SecondReading) -> VerifiedRun:
        """Repair rows, raise an alarm if there was something to repair, and advance the coverage.

        Raises UnprovenError before anything is stored for good.
        """
        coverage, missing, invented = self.coverage, set[LogId](), set[LogId]()
        if covers_events(coverage, reading.chain.info):
            missing, invented = _repair_events(coverage, reading)
        of_pools = repair_pool_logs(coverage, reading)
        run = VerifiedRun(
            to=reading.last,
            blocks=reading.last - coverage.verified_to,
            missing=len(missing) + of_pools.missing,
            invented=len(invented) + of_pools.invented,
        )
        if run.missing or run.invented:
            hashes = {log.tx_hash for log in missing | invented} | of_pools.tx_hashes
            _raise_alarm(coverage, run, first=reading.first, tx_hashes=hashes)
        advance_verified(coverage, to=reading.last)
        return run


def _repair_events(coverage: Coverage, reading: SecondReading) -> tuple[set[LogId], set[LogId]]:
    """Repair launches and events; return those that were missing, and those that the chain does not have.

    Raises UnprovenError where rows are in no log of the reading, unless it proves that their block lacks them.
    """
    before, read_ids = find_log_rows(coverage, reading.first, reading.last), log_ids(reading.transactions)
    if doubtful := {number for log, number in before.items() if log not in read_ids} - reading.proven:
        raise UnprovenError(doubtful)
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
        writing.write_transactions(rewritten, chain=reading.chain.info, final=True)
        after = find_log_rows(coverage, reading.first, reading.last)
    missing = {log for log in after if log not in before and not is_of_later_token(coverage, log)}
    return missing, {log for log in before if log not in after}


def _raise_alarm(coverage: Coverage, run: VerifiedRun, *, first: int, tx_hashes: Collection[str]) -> None:
    CoverageAlarm.objects.create(
        chain_id=coverage.chain_id,
        first_block=first,
        last_block=run.to,
        missing=run.missing,
        invented=run.invented,
        tx_hashes=sorted(tx_hashes)[:MAX_NAMED_TRANSACTIONS],
        repaired=True,
    )
    logger.error(
        "chain=%s blocks=%s-%s missing=%s invented=%s repaired: nodes had omitted or invented logs",
        coverage.chain_id,
        first,
        run.to,
        run.missing,
        run.invented,
    )


def verify_final(session: LeaderSession) -> None:
    """Verify every final followed block some time after it became final, until the session ends."""
    checked_at = time.monotonic()
    while not session.ended.wait(_CHECK_SECONDS):
        begin_request()
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
