"""The newest blocks of a chain, written as they come: appended, read after a gap, exchanged after a reorg."""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.db import transaction

from config.http.json_client import Retryable
from tokens.chains.protocols import Chain
from tokens.chains.types import BlockGone, BlockHeader, NodeUnavailable, TransactionFacts
from tokens.following import chain_heads, coverage, halts, head_blocks, reorg_window, reorgs
from tokens.following.halts import Halted
from tokens.following.leader_loops import Term
from tokens.following.new_heads import listening
from tokens.following.reorgs import PIECE_BLOCKS, Branch, TooDeep
from tokens.indexing import chain_lock, unwinding, writing
from tokens.indexing.writing import Written
from tokens.installation.installed_chains import installed_chain, installed_chain_otherwise
from tokens.models import FollowedBlock

logger = logging.getLogger(__name__)

# Following goes on from the stored window while no more than so many blocks above it are final. Where there are more,
# it is for history to read them, and the newest are not kept waiting.
LONGEST_GAP = 500
# A branch that is no longer than ours is taken when most nodes have it, or once no node has had our newest block for so
# many seconds.
UNVOUCHED_SECONDS = 2.0
# How often it is noted that the newest block is still the same.
_TOUCH_SECONDS = 2.0


class OtherBranch(Retryable):
    """A node has another branch than the one that is followed, and not enough of them have it."""


@dataclass
class Head:
    """One chain's window in the database, and the two ways in which its nodes are asked: in order, and otherwise.

    Each call of `advance` reads from nodes first, and then writes in one transaction all that belongs together. Nothing
    is remembered between two calls that a failed one could have left wrong.
    """

    chain: Chain
    # The same chain, whose nodes are asked in another order.
    otherwise: Chain
    # Seconds.
    patience: float = UNVOUCHED_SECONDS
    last: FollowedBlock | None = field(init=False, default=None)
    _preferred: Chain = field(init=False)
    # When a node last had our newest block.
    _vouched_at: float = field(init=False, default_factory=time.monotonic)
    _touched_at: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self._preferred = self.chain
        self.reload()

    @property
    def chain_id(self) -> int:
        return self.chain.info.chain_id

    @property
    def known(self) -> str | None:
        """The hash of the newest block that is followed."""
        return self.last.hash if self.last else None

    def reload(self) -> None:
        """Take over from the database what is followed."""
        self.last = reorg_window.read_newest(self.chain_id)

    def ask_others(self) -> None:
        """Ask the nodes in the other order from now on: the one that is first has another branch than most."""
        self.chain, self.otherwise = self.otherwise, self.chain

    def advance(self, newest: BlockHeader) -> bool:
        """Take one step towards this block, the newest that a node told of; says whether more steps remain to it.

        Raises Halted, Retryable (BlockGone, NodeUnavailable, OtherBranch, WindowMoved).
        """
        if self.last is None:
            self._begin(newest)
        elif newest.hash == self.last.hash:
            self._vouched_at = time.monotonic()
            self._touch()
        elif newest.parent_hash == self.last.hash and newest.number == self.last.number + 1:
            self._append(self.last, [newest], newest=newest)
        elif newest.number > self.last.number:
            self._close_gap(self.last, newest)
        else:
            self._look_behind(self.last, newest)
            return False
        return self.last is not None and self.last.number < newest.number

    def _begin(self, newest: BlockHeader) -> None:
        """Start at the newest final block: what lies below, and the block itself, are history's."""
        number = chain_heads.final_below(newest.number, self.chain.info)
        anchor = self._read_header(number)
        with transaction.atomic():
            chain_lock.own(self.chain_id)
            if reorg_window.read_newest(self.chain_id) is not None:
                raise reorg_window.WindowMoved(f"chain {self.chain_id} is followed already")
            self._begin_at(anchor, newest=newest)
        self.last = reorg_window.row(self.chain_id, anchor)
        logger.info("chain=%s head=%s followed=%s following begins", self.chain_id, newest.number, anchor.number)

    def _begin_at(self, anchor: BlockHeader, *, newest: BlockHeader) -> None:
        reorg_window.begin_at(self.chain_id, anchor)
        chain_heads.store(self.chain.info, newest=newest, followed=anchor.number)

    def _close_gap(self, last: FollowedBlock, newest: BlockHeader) -> None:
        """Read blocks between ours and the newest, so many at a time that others need not wait long."""
        final = chain_heads.final_below(newest.number, self.chain.info)
        if last.number + LONGEST_GAP < final:
            self._move_up(last, newest, to=final)
            return
        end = min(last.number + PIECE_BLOCKS, newest.number)
        headers = self.chain.read_headers(range(last.number, end + 1))
        if last.number in headers and headers[last.number].hash != last.hash:
            self._consider(last, newest)
            return
        headers.setdefault(newest.number, newest)
        between = reorgs.run_of(headers, first=last.number + 1)[:PIECE_BLOCKS]
        following = reorgs.linked(between, to=last)
        if not following:
            raise BlockGone(
                f"chain {self.chain_id}: what follows block {last.number} is lacking, or doesn't build on it"
            )
        self._append(last, following, newest=newest)

    def _move_up(self, last: FollowedBlock, newest: BlockHeader, *, to: int) -> None:
        """Leave a long gap to history, once it is certain that what was followed still holds."""
        headers = self.chain.read_headers([last.number, to])
        if last.number not in headers or to not in headers:
            raise BlockGone(f"chain {self.chain_id}: its node lacks final blocks")
        if headers[last.number].hash != last.hash:
            self._consider(last, newest)
            return
        with transaction.atomic():
            chain_lock.own(self.chain_id)
            reorg_window.check_newest(self.chain_id, last)
            self._begin_at(headers[to], newest=newest)
        self.last = reorg_window.row(self.chain_id, headers[to])
        logger.info("chain=%s head=%s followed=%s after a gap from %s", self.chain_id, newest.number, to, last.number)

    def _look_behind(self, last: FollowedBlock, newest: BlockHeader) -> None:
        """A block that is no higher than ours: nothing new, where we have it; else another branch."""
        ours = reorg_window.read_blocks(self.chain_id, [newest.number]).get(newest.number)
        if ours is not None and ours.hash == newest.hash:
            raise BlockGone(f"chain {self.chain_id}: its node is {last.number - newest.number} blocks behind")
        self._consider(last, newest)

    def _consider(self, last: FollowedBlock, newest: BlockHeader) -> None:
        """Exchange our newest blocks for a node's branch, if it has one and enough others have it."""
        try:
            branch = reorgs.find_branch(self.chain, last=last, newest=newest)
        except TooDeep as found:
            self._consider_halt(last, newest, found)
            return
        if branch is None:
            raise BlockGone(f"chain {self.chain_id}: no node has blocks that lead to block {newest.number}")
        if newest.number <= last.number and self._is_vouched(last) and not self._is_outvoted(branch.dropped):
            raise OtherBranch(f"chain {self.chain_id}: a node has another branch, no longer than ours")
        self._check_votes(ours=branch.dropped, theirs=branch.headers[0])
        self._exchange(last, branch, newest=newest)

    def _consider_halt(self, last: FollowedBlock, newest: BlockHeader, found: TooDeep) -> None:
        if self._is_vouched(last):
            raise OtherBranch(f"chain {self.chain_id}: a node has another chain of final blocks") from found
        self._check_votes(ours=found.ours, theirs=found.theirs)
        reason = f"{found}; the newest block was {last.number} {last.hash}, and is {newest.number} {newest.hash} now"
        raise halts.halt(self.chain_id, reason, last=last) from found

    def _is_vouched(self, last: FollowedBlock) -> bool:
        """Whether a node has our newest block, or had it a moment ago."""
        having, _ = self.chain.count_nodes_with(reorg_window.header_of(last))
        if having:
            self._vouched_at = time.monotonic()
        return time.monotonic() - self._vouched_at < self.patience

    def _is_outvoted(self, block: FollowedBlock) -> bool:
        """Whether some nodes have our block, and more of them another one: the few may stay where they are for long."""
        having, differing = self.chain.count_nodes_with(reorg_window.header_of(block))
        return 0 < having < differing

    def _check_votes(self, *, ours: FollowedBlock, theirs: BlockHeader) -> None:
        """Raise OtherBranch where more nodes have our block, and ask others from now on."""
        if not reorgs.has_more_nodes(self._preferred, ours=reorg_window.header_of(ours), theirs=theirs):
            self.ask_others()
            raise OtherBranch(f"chain {self.chain_id}: a node has another block {theirs.number} than most")

    def _append(self, last: FollowedBlock, headers: Sequence[BlockHeader], *, newest: BlockHeader) -> None:
        transactions = head_blocks.read(headers, chain=self.chain, otherwise=self.otherwise)
        with transaction.atomic():
            chain_lock.own(self.chain_id)
            reorg_window.check_newest(self.chain_id, last)
            written = self._write(headers, transactions, newest=newest)
        self._accept(headers[-1], written, newest=newest)

    def _exchange(self, last: FollowedBlock, branch: Branch, *, newest: BlockHeader) -> None:
        """Take back our blocks above the ancestor and write the branch's, so that nobody sees it without either."""
        transactions = head_blocks.read(branch.headers, chain=self.chain, otherwise=self.otherwise)
        with transaction.atomic():
            chain_lock.own(self.chain_id)
            reorg_window.check_newest(self.chain_id, last)
            unwinding.unwind_blocks(self.chain_id, above=branch.ancestor.number)
            written = self._write(branch.headers, transactions, newest=newest)
        depth = last.number - branch.ancestor.number
        logger.warning(
            "chain=%s head=%s reorganised: %s blocks dropped above %s",
            self.chain_id,
            newest.number,
            depth,
            branch.ancestor.number,
        )
        self._accept(branch.headers[-1], written, newest=newest)

    def _write(
        self, headers: Sequence[BlockHeader], transactions: Sequence[TransactionFacts], *, newest: BlockHeader
    ) -> Written:
        """Write blocks on top of the window, in a transaction that owns the chain."""
        first, last = headers[0].number, headers[-1].number
        unwinding.unwind_rivals(self.chain_id, blocks={header.number: header.hash for header in headers})
        written = writing.write(transactions, chain=self.chain.info)
        reorg_window.append(self.chain_id, headers, depth=self.chain.info.finality_depth)
        coverage.advance_joined(self.chain_id, first=first, last=last)
        chain_heads.store(self.chain.info, newest=max(newest, headers[-1], key=_number), followed=last)
        return written

    def _accept(self, header: BlockHeader, written: Written, *, newest: BlockHeader) -> None:
        """What was committed is where we are now."""
        self.last = reorg_window.row(self.chain_id, header)
        self._vouched_at = self._touched_at = time.monotonic()
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
            chain_heads.touch(self.chain_id)

    def _read_header(self, number: int) -> BlockHeader:
        headers = self.chain.read_headers([number])
        if number not in headers:
            raise NodeUnavailable(f"chain {self.chain_id}: its node lacks block {number}")
        return headers[number]


def _number(header: BlockHeader) -> int:
    return header.number


# A chain's head, followed until the turn ends: hears of new blocks, takes the steps, waits out what goes wrong.
# What troubles call this loop.
HEAD = "head"

# How often a halted chain calls for an operator, and how often it looks whether one has come.
_CALL_SECONDS, _LOOK_SECONDS = 60.0, 1.0


def follow_head(term: Term) -> None:
    """Follow the head, unless and until the chain is halted, and again once it no longer is."""
    _wait_out_halt(term)
    head = Head(chain=installed_chain(term.chain_id), otherwise=installed_chain_otherwise(term.chain_id))
    try:
        _follow(head, term)
    except Halted:
        term.troubles.clear(HEAD)


def _follow(head: Head, term: Term) -> None:
    with listening(term.chain_id) as news:
        newest = None
        while not term.ended.is_set():
            try:
                if term.outvoted.is_set():
                    term.outvoted.clear()
                    head.ask_others()
                    news.doubt()
                newest = newest or news.wait_for_newest(head.chain, known=head.known, ended=term.ended)
                if newest is not None and not head.advance(newest):
                    newest = None
                term.troubles.clear(HEAD)
            except Retryable as error:
                newest = None
                news.doubt()
                # Where it can't go on, an operator may have taken the chain back meanwhile.
                head.reload()
                # Longer than between two looks it needs not wait: the next one may find another node.
                pause = term.troubles.note(HEAD, error, longest_pause=settings.FOLLOW_POLL_SECONDS)
                term.ended.wait(pause)


def _wait_out_halt(term: Term) -> None:
    """Stay here while the chain is halted. It keeps its turn meanwhile: a standby could do no more about it."""
    called_at = float("-inf")
    while not term.ended.is_set() and (reason := halts.reason_of(term.chain_id)):
        if time.monotonic() - called_at >= _CALL_SECONDS:
            called_at = time.monotonic()
            halts.call_operator(term.chain_id, reason)
        term.ended.wait(_LOOK_SECONDS)
