"""Final block verification: a second reading from nodes, and the repair of missing or invented rows."""

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
    restart_repeated,
)
from tokens.following.followed_pools import FollowedPools, select_followed_pools
from tokens.following.leader_loops import LeaderSession
from tokens.following.prefetch import PrefetchJob, RetryControl, prefetching
from tokens.following.verifying.coverage_alarms import VerifiedRun, raise_alarm
from tokens.following.verifying.log_rows import (
    LogId,
    find_altered_events,
    find_altered_transactions,
    find_log_rows,
    is_of_later_token,
    log_ids,
)
from tokens.following.verifying.pool_log_repair import repair_pool_logs
from tokens.following.verifying.second_reading import (
    SecondReading,
    UnprovenError,
    read_from_receipts,
    read_second,
    read_undecided,
)
from tokens.indexing import chain_lock, event_rows, unwinding, writing
from tokens.installation.installed_chains import installed_chain, installed_chain_second_node_first
from tokens.models import Coverage

# The most blocks in a run: their headers are in memory, and an alarm should name a narrow range.
MAX_RUN_BLOCKS = 2000
# The name of this loop among the failures.
CHECKS = "checks"

# With this many waiting blocks, verification does not wait for FOLLOW_VERIFY_SECONDS.
MANY_BLOCKS = 100
# Seconds for which a block's proof is retried while nodes respond; then its rows stay, with an alarm.
UNDECIDED_SECONDS = 120.0
# Seconds between two checks for blocks to verify.
_CHECK_SECONDS = 0.5


class MissingProofError(RetryableError):
    """Nodes respond, but neither headers nor two providers prove the contents of some blocks."""


def verify_coverage(
    coverage: Coverage,
    *,
    chain: Chain,
    alternate: Chain,
    target: Callable[[], int],
    control: RetryControl,
    undecided_seconds: float = UNDECIDED_SECONDS,
) -> Iterator[VerifiedRun]:
    """Verify all followed blocks up to `target()`, which must be final. Yield each run once it is repaired and stored.

    Ends at the target, or soon after it is stopped. Calls to nodes are retried without limit. Blocks that only one
    provider returned are verified once another one responds. Raises ProgressConflictError.
    """
    coverage.refresh_from_db()
    if coverage.repeated_from is not None and _has_second_provider(chain, alternate):
        restart_repeated(coverage)
    pools = FollowedPools(select_followed_pools(chain.info) if covers_trades(coverage, chain.info) else None)
    verifier = _Verifier(
        coverage=coverage,
        addresses=event_contracts(coverage, chain.info),
        pools=pools,
        target=target,
        control=control,
        undecided_seconds=undecided_seconds,
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
    """Comparison between one coverage row's blocks and their second readings, with repair."""

    coverage: Coverage
    addresses: frozenset[str]
    pools: FollowedPools
    target: Callable[[], int]
    control: RetryControl
    undecided_seconds: float

    def verify(self, reading: SecondReading) -> VerifiedRun | None:
        """Repair the rows of a run. Return None after a stop, or if the chain was unwound below the run."""
        # When a block's proof was first missing, on the monotonic clock.
        since = float("inf")
        while not self.control.stop.is_set():
            numbers: Collection[int] = reading.unread - reading.undecided
            try:
                if not numbers:
                    with transaction.atomic():
                        chain_lock.lock_exclusive(self.coverage.chain_id)
                        return self._settle(reading)
            except UnprovenError as error:
                numbers = error.numbers
            # A response that lacks stored rows is no proof: the blocks' own receipts must show that they hold none.
            try:
                reading = self._read_receipts(reading, numbers)
                lacking = (reading.unread | (set(numbers) - reading.corrigible)) - reading.undecided
                if lacking and time.monotonic() - since >= self.undecided_seconds:
                    reading = self._add_launched(read_undecided(reading, lacking, addresses=self.addresses))
                elif lacking:
                    since = min(since, time.monotonic())
                    raise MissingProofError(f"chain {self.coverage.chain_id}: {len(lacking)} blocks are not proven")
            except RetryableError as error:
                if not isinstance(error, MissingProofError):
                    # Nodes that don't respond prove nothing about the blocks.
                    since = float("inf")
                if reading.last > self.target():
                    return None
                self.control.stop.wait(self.control.record(error))
            else:
                self.control.clear()
        return None

    def _read_receipts(self, reading: SecondReading, numbers: Collection[int]) -> SecondReading:
        return self._add_launched(read_from_receipts(reading, numbers, addresses=self.addresses, thorough=True))

    def _add_launched(self, reading: SecondReading) -> SecondReading:
        self.pools.add_launched(reading.transactions)
        if reading.pools is self.pools.selection:
            return reading
        # The receipts show a launch that both readings lacked: later blocks may hold its pool's logs.
        grown = replace(reading, pools=self.pools.selection)
        return read_from_receipts(grown, range(grown.first, grown.last + 1), addresses=self.addresses)

    def _settle(self, reading: SecondReading) -> VerifiedRun:
        """Repair rows, raise an alarm if rows needed repair, and advance the coverage.

        Raises UnprovenError before anything is stored for good.
        """
        coverage, events = self.coverage, EventRepair()
        if covers_events(coverage, reading.chain.info):
            events = _repair_events(coverage, reading)
        pool_logs = repair_pool_logs(coverage, reading)
        run = VerifiedRun(
            to=reading.last,
            blocks=reading.last - coverage.verified_to,
            missing=len(events.missing) + pool_logs.missing,
            invented=len(events.invented) + pool_logs.invented,
            corrected=len(events.corrected) + pool_logs.corrected,
            kept=len(events.kept) + pool_logs.kept,
            unproven=len(reading.odd_filters | reading.undecided),
        )
        hashes = {log.tx_hash for log in events.missing | events.invented} | events.corrected | events.kept
        raise_alarm(coverage, run, first=reading.first, tx_hashes=hashes | pool_logs.tx_hashes)
        advance_verified(coverage, to=reading.last, repeated_from=min(reading.repeated, default=None))
        return run


@dataclass(frozen=True, kw_only=True, slots=True)
class EventRepair:
    """Logs that were missing, logs that the chain does not have, and transactions: corrected, or kept unproven."""

    missing: frozenset[LogId] = frozenset()
    invented: frozenset[LogId] = frozenset()
    corrected: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()


def _repair_events(coverage: Coverage, reading: SecondReading) -> EventRepair:
    """Repair launches and events. Rows in undecided blocks stay as they are.

    Raises UnprovenError if the reading lacks rows or has other values, and proves neither.
    """
    before, read_ids = find_log_rows(coverage, reading.first, reading.last), log_ids(reading.transactions)
    lacking = {log: number for log, number in before.items() if log not in read_ids}
    altered = find_altered_transactions(coverage, reading.transactions)
    blocks = {facts.tx_hash: facts.block_number for facts in reading.transactions if facts.tx_hash in altered}
    unproven = set(lacking.values()) - reading.proven | set(blocks.values()) - reading.corrigible
    if unproven - reading.undecided:
        raise UnprovenError(unproven - reading.undecided)
    undecided = {log for log, number in lacking.items() if number in reading.undecided}
    undecided_altered = {tx_hash for tx_hash, number in blocks.items() if number in reading.undecided}
    corrected = altered - undecided_altered
    foreign = {log.tx_hash for log in lacking.keys() - undecided}
    if foreign:
        unwinding.unwind_transactions(coverage.chain_id, sorted(foreign))
    # Transactions with all their rows are not written again. Untrusted emitters' logs have no rows.
    again = foreign | corrected
    rewritten = [
        facts
        for facts in reading.transactions
        if facts.tx_hash in again or (facts.tx_hash not in undecided_altered and not before.keys() >= log_ids([facts]))
    ]
    after = before
    if rewritten or foreign:
        writing.write_transactions(rewritten, chain=reading.chain.info, final=True)
        # Their replacement logs have no row, because they are about tokens that are not indexed.
        still_altered = find_altered_events(coverage, rewritten)
        event_rows.refresh_token_state(event_rows.delete_events(list(still_altered)))
        after = find_log_rows(coverage, reading.first, reading.last)
    missing = {log for log in after if log not in before and not is_of_later_token(coverage, log)}
    return EventRepair(
        missing=frozenset(missing),
        invented=frozenset(log for log in before if log not in after),
        corrected=frozenset(corrected),
        kept=frozenset({log.tx_hash for log in undecided} | undecided_altered),
    )


def _has_second_provider(chain: Chain, alternate: Chain) -> bool:
    """Return whether the first node for verification belongs to another provider, and responds."""
    other = alternate.rpc.single_nodes()[0]
    if other.providers[0] == chain.rpc.providers[0]:
        return False
    try:
        replace(alternate, rpc=other).read_head()
    except RetryableError:
        return False
    return True


def verify_final(session: LeaderSession) -> None:
    """Verify every followed block some time after it became final, until the session ends."""
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
        # Negative while the coverage's first block is above the final one.
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
        # Blocks were unwound, or a row with more contracts has caught up and replaced this one.
        return
    except RetryableError as error:
        session.ended.wait(control.record(error))
    else:
        control.clear()
