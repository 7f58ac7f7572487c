"""Live sync at a chain's head.

New blocks are appended, gaps are read in pieces, and a competing branch replaces followed blocks after a reorg.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.db import transaction

from config.http.errors import RetryableError
from config.http.request_ids import begin_request
from tokens.chains.errors import BlockNotCanonicalError, NodeUnavailableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.pool_types import PoolSelection
from tokens.chains.types import BlockHeader, RangeFacts
from tokens.following import chain_heads, coverage, halts, head_blocks, reorg_window, reorgs
from tokens.following.followed_pools import includes_followed_pools, select_followed_pools
from tokens.following.halts import ChainHaltedError
from tokens.following.leader_loops import LeaderSession
from tokens.following.new_heads import head_watcher
from tokens.following.reorgs import PIECE_BLOCKS, Branch, ReorgTooDeepError
from tokens.indexing import chain_lock, unwinding, writing
from tokens.indexing.writing import WriteCounts, confirm_launches
from tokens.installation.installed_chains import installed_chain, installed_chain_second_node_first
from tokens.models import FollowedBlock, IndexRequest
from tokens.trades import trade_writing

logger = logging.getLogger(__name__)

# Following resumes from the stored window unless more than this many blocks above it are final. A longer gap is left to
# the historical sync, so that the newest blocks are not delayed.
MAX_GAP_BLOCKS = 500
# A branch that is no longer than ours replaces ours when most nodes have it, or once no node has had our newest block
# for this many seconds.
UNCONFIRMED_SECONDS = 2.0
# Seconds between two updates of the chain's row while its newest block stays the same.
_TOUCH_SECONDS = 2.0
# The name of this loop among the failures.
HEAD = "head"

# How often a halted chain alerts operators, and how often it checks whether the halt has ended.
_ALERT_SECONDS, _CHECK_SECONDS = 60.0, 1.0


class CompetingBranchError(RetryableError):
    """A node has another branch than the followed one, and too few nodes have it."""


@dataclass
class Head:
    """One chain's head: its reorg window in the database, and two sequences in which its nodes are queried.

    Each `advance` call reads from nodes first, and then writes related rows in one transaction. A failed call leaves no
    state in memory that would be wrong for the next one.
    """

    chain: Chain
    # The same chain with the second node first.
    alternate: Chain
    # Seconds without a node that has our newest block, after which a branch with the same length replaces it.
    unconfirmed_timeout: float = UNCONFIRMED_SECONDS
    last: FollowedBlock | None = field(init=False, default=None)
    _preferred: Chain = field(init=False)
    # When a node last had our newest block, on the monotonic clock.
    _confirmed_at: float = field(init=False, default_factory=time.monotonic)
    _touched_at: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self._preferred = self.chain
        self.reload()

    @property
    def chain_id(self) -> int:
        return self.chain.info.chain_id

    @property
    def known_hash(self) -> str | None:
        """Return the hash of the newest followed block."""
        return self.last.hash if self.last else None

    def reload(self) -> None:
        """Load the newest followed block from the database."""
        self.last = reorg_window.read_newest_block(self.chain_id)

    def switch_nodes(self) -> None:
        """Query the nodes in the other sequence from now on: the first node has another branch than most."""
        self.chain, self.alternate = self.alternate, self.chain

    def advance(self, newest: BlockHeader) -> bool:
        """Take one step towards `newest`, the newest header that a node reported. Return whether more steps remain.

        Raises ChainHaltedError, RetryableError (BlockNotCanonicalError, NodeUnavailableError, CompetingBranchError,
        WindowChangedError).
        """
        if self.last is None:
            self._begin(newest)
        elif newest.hash == self.last.hash:
            self._confirmed_at = time.monotonic()
            self._touch()
        elif newest.parent_hash == self.last.hash and newest.number == self.last.number + 1:
            self._append(self.last, [newest], newest=newest)
        elif newest.number > self.last.number:
            self._read_gap(self.last, newest)
        else:
            self._compare_lower(self.last, newest)
            return False
        return self.last is not None and self.last.number < newest.number

    def _begin(self, newest: BlockHeader) -> None:
        """Start above the newest final block. The historical sync reads that block and all blocks below it."""
        number = chain_heads.final_below(newest.number, self.chain.info)
        anchor = self._read_header(number)
        with transaction.atomic():
            chain_lock.lock_exclusive(self.chain_id)
            if reorg_window.read_newest_block(self.chain_id) is not None:
                raise reorg_window.WindowChangedError(f"chain {self.chain_id} is followed already")
            self._begin_at(anchor, newest=newest)
        self.last = reorg_window.block_row(self.chain_id, anchor)
        logger.info("chain=%s head=%s followed=%s started following", self.chain_id, newest.number, anchor.number)

    def _begin_at(self, anchor: BlockHeader, *, newest: BlockHeader) -> None:
        reorg_window.reset_to(self.chain_id, anchor)
        chain_heads.store_head(self.chain.info, newest=newest, followed=anchor.number)

    def _read_gap(self, last: FollowedBlock, newest: BlockHeader) -> None:
        """Read some blocks between ours and the newest, few enough not to block other writers for long."""
        final = chain_heads.final_below(newest.number, self.chain.info)
        if last.number + MAX_GAP_BLOCKS < final:
            self._skip_gap(last, newest, to=final)
            return
        end = min(last.number + PIECE_BLOCKS, newest.number)
        headers = self.chain.read_headers(range(last.number, end + 1))
        if last.number in headers and headers[last.number].hash != last.hash:
            self._reorganise(last, newest)
            return
        headers.setdefault(newest.number, newest)
        between = reorgs.consecutive_headers(headers, first=last.number + 1)[:PIECE_BLOCKS]
        following = reorgs.linked_headers(between, to=last)
        if not following:
            raise BlockNotCanonicalError(
                f"chain {self.chain_id}: what follows block {last.number} is missing, or does not build on it"
            )
        self._append(last, following, newest=newest)

    def _skip_gap(self, last: FollowedBlock, newest: BlockHeader, *, to: int) -> None:
        """Leave a long gap to the historical sync, once the followed blocks have proved to be canonical still."""
        headers = self.chain.read_headers([last.number, to])
        if last.number not in headers or to not in headers:
            raise BlockNotCanonicalError(f"chain {self.chain_id}: its node lacks final blocks")
        if headers[last.number].hash != last.hash:
            self._reorganise(last, newest)
            return
        with transaction.atomic():
            chain_lock.lock_exclusive(self.chain_id)
            reorg_window.check_newest(self.chain_id, last)
            self._begin_at(headers[to], newest=newest)
            confirm_launches(self.chain_id, up_to_block=last.number)
        self.last = reorg_window.block_row(self.chain_id, headers[to])
        logger.info("chain=%s head=%s followed=%s after a gap from %s", self.chain_id, newest.number, to, last.number)

    def _compare_lower(self, last: FollowedBlock, newest: BlockHeader) -> None:
        """Handle a header that is no higher than ours: a node that lags, or a competing branch."""
        ours = reorg_window.read_blocks(self.chain_id, [newest.number]).get(newest.number)
        if ours is not None and ours.hash == newest.hash:
            raise BlockNotCanonicalError(
                f"chain {self.chain_id}: its node is {last.number - newest.number} blocks behind"
            )
        self._reorganise(last, newest)

    def _reorganise(self, last: FollowedBlock, newest: BlockHeader) -> None:
        """Replace our newest blocks with a node's branch, if it has one and enough nodes have it."""
        try:
            branch = reorgs.find_branch(self.chain, last=last, newest=newest)
        except ReorgTooDeepError as error:
            self._halt_if_confirmed(last, newest, error)
            return
        if branch is None:
            raise BlockNotCanonicalError(
                f"chain {self.chain_id}: no node has blocks that lead to block {newest.number}"
            )
        if newest.number <= last.number and self._is_confirmed(last) and not self._is_outvoted(branch.dropped):
            raise CompetingBranchError(f"chain {self.chain_id}: a node has another branch, no longer than ours")
        self._check_votes(ours=branch.dropped, theirs=branch.headers[0])
        self._replace(last, branch, newest=newest)

    def _halt_if_confirmed(self, last: FollowedBlock, newest: BlockHeader, error: ReorgTooDeepError) -> None:
        if self._is_confirmed(last):
            raise CompetingBranchError(f"chain {self.chain_id}: a node has another chain of final blocks") from error
        self._check_votes(ours=error.ours, theirs=error.theirs)
        reason = f"{error}; the newest block was {last.number} {last.hash}, and is {newest.number} {newest.hash} now"
        raise halts.halt_chain(self.chain_id, reason, last=last) from error

    def _is_confirmed(self, last: FollowedBlock) -> bool:
        """Return whether a node has our newest block, or had it a moment ago."""
        having, _ = self.chain.count_nodes_with(reorg_window.block_header(last))
        if having:
            self._confirmed_at = time.monotonic()
        return time.monotonic() - self._confirmed_at < self.unconfirmed_timeout

    def _is_outvoted(self, block: FollowedBlock) -> bool:
        """Return whether more nodes have another block than have ours. The minority may stay on its branch for long."""
        having, differing = self.chain.count_nodes_with(reorg_window.block_header(block))
        return 0 < having < differing

    def _check_votes(self, *, ours: FollowedBlock, theirs: BlockHeader) -> None:
        """Raise CompetingBranchError and switch nodes if more nodes have our block."""
        if not reorgs.has_node_majority(self._preferred, ours=reorg_window.block_header(ours), theirs=theirs):
            self.switch_nodes()
            raise CompetingBranchError(f"chain {self.chain_id}: a node has another block {theirs.number} than most")

    def _append(self, last: FollowedBlock, headers: Sequence[BlockHeader], *, newest: BlockHeader) -> None:
        pools = select_followed_pools(self.chain.info)
        reading = self._read_contents(headers, pools)
        with transaction.atomic():
            chain_lock.lock_exclusive(self.chain_id)
            reorg_window.check_newest(self.chain_id, last)
            written = self._write(headers, reading, pools=pools, newest=newest)
        self._set_last(headers[-1], written, newest=newest)

    def _replace(self, last: FollowedBlock, branch: Branch, *, newest: BlockHeader) -> None:
        """Unwind our blocks above the ancestor and write the branch, in one transaction."""
        pools = select_followed_pools(self.chain.info)
        reading = self._read_contents(branch.headers, pools)
        with transaction.atomic():
            chain_lock.lock_exclusive(self.chain_id)
            reorg_window.check_newest(self.chain_id, last)
            unwinding.unwind_blocks(self.chain_id, above=branch.ancestor.number)
            written = self._write(branch.headers, reading, pools=pools, newest=newest)
        depth = last.number - branch.ancestor.number
        logger.warning(
            "chain=%s head=%s reorganised: %s blocks dropped above %s",
            self.chain_id,
            newest.number,
            depth,
            branch.ancestor.number,
        )
        self._set_last(branch.headers[-1], written, newest=newest)

    def _read_contents(self, headers: Sequence[BlockHeader], pools: PoolSelection | None) -> RangeFacts:
        return head_blocks.read_head_blocks(headers, chain=self.chain, alternate=self.alternate, pools=pools)

    def _write(
        self, headers: Sequence[BlockHeader], reading: RangeFacts, *, pools: PoolSelection | None, newest: BlockHeader
    ) -> WriteCounts:
        """Write blocks on top of the window, in a transaction that holds the chain's lock exclusively.

        `pools` are the pools whose logs the reading has.
        """
        first, last = headers[0].number, headers[-1].number
        # The reading lacks trades in tokens that the history wrote meanwhile: `join_head` reads the blocks again.
        has_all_pools = includes_followed_pools(pools, self.chain.info)
        unwinding.unwind_competing_blocks(self.chain_id, blocks={header.number: header.hash for header in headers})
        written = writing.write_transactions(reading.transactions, chain=self.chain.info)
        # After the launches, because trades may be in the launched tokens.
        trade_writing.store_trades(reading.swaps, reading.liquidity_changes, chain=self.chain.info, live=True)
        trade_writing.price_launches(reading.transactions, chain=self.chain.info)
        IndexRequest.objects.add_undecodable(self.chain_id, reading.undecodable)
        reorg_window.append_blocks(self.chain_id, headers, depth=self.chain.info.finality_depth)
        confirm_launches(self.chain_id, up_to_block=last - self.chain.info.finality_depth)
        if has_all_pools:
            coverage.advance_joined(self.chain_id, first=first, last=last)
        chain_heads.store_head(self.chain.info, newest=max(newest, headers[-1], key=_number), followed=last)
        return written

    def _set_last(self, header: BlockHeader, written: WriteCounts, *, newest: BlockHeader) -> None:
        """Set the newest followed block after a commit."""
        self.last = reorg_window.block_row(self.chain_id, header)
        self._confirmed_at = self._touched_at = time.monotonic()
        if written.launches or written.events:
            logger.info(
                "chain=%s head=%s followed=%s launches=%s events=%s",
                self.chain_id,
                newest.number,
                header.number,
                written.launches,
                written.events,
            )

    def _touch(self) -> None:
        now = time.monotonic()
        if now - self._touched_at >= _TOUCH_SECONDS:
            self._touched_at = now
            chain_heads.touch_head(self.chain_id)

    def _read_header(self, number: int) -> BlockHeader:
        headers = self.chain.read_headers([number])
        if number not in headers:
            raise NodeUnavailableError(f"chain {self.chain_id}: its node lacks block {number}")
        return headers[number]


def _number(header: BlockHeader) -> int:
    return header.number


def follow_head(session: LeaderSession) -> None:
    """Follow the head while the chain is not halted."""
    _wait_out_halt(session)
    head = Head(chain=installed_chain(session.chain_id), alternate=installed_chain_second_node_first(session.chain_id))
    try:
        _follow(head, session)
    except ChainHaltedError:
        session.failures.clear(HEAD)


def _follow(head: Head, session: LeaderSession) -> None:
    with head_watcher(session.chain_id) as watcher:
        newest = None
        while not session.ended.is_set():
            begin_request()
            try:
                if session.outvoted.is_set():
                    session.outvoted.clear()
                    head.switch_nodes()
                    watcher.poll_now()
                newest = newest or watcher.wait_for_newest(head.chain, known_hash=head.known_hash, ended=session.ended)
                if newest is not None and not head.advance(newest):
                    newest = None
                session.failures.clear(HEAD)
            except RetryableError as error:
                newest = None
                watcher.poll_now()
                # After a failure: an operator may have rewound the chain meanwhile.
                head.reload()
                # At most one poll interval, since the next attempt may use another node.
                delay = session.failures.record(HEAD, error, max_delay=settings.FOLLOW_POLL_SECONDS)
                session.ended.wait(delay)


def _wait_out_halt(session: LeaderSession) -> None:
    """Block while the chain is halted. The session goes on, since a standby could do no better."""
    alerted_at = float("-inf")
    while not session.ended.is_set() and (reason := halts.halt_reason(session.chain_id)):
        if time.monotonic() - alerted_at >= _ALERT_SECONDS:
            alerted_at = time.monotonic()
            halts.alert_operator(session.chain_id, reason)
        session.ended.wait(_CHECK_SECONDS)
