"""A transaction hash goes in, tokens come out, new or changed; and the way back, when the chain drops the block."""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from config.http.json_client import Permanent, Retryable
from tokens.chains.protocols import LaunchChain
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import LaunchNotFound, NodeUnavailable, TransactionFacts, TransactionNotFound
from tokens.indexing import chain_lock
from tokens.indexing.unwinding import take_back, unwind_transactions
from tokens.indexing.writing import write
from tokens.installation.installed_chains import installed_chain, installed_launch_chain, registry
from tokens.models import FollowedBlock, IndexRequest, Token, TokenEvent
from tokens.models.querysets import IndexRequestQuerySet

logger = logging.getLogger(__name__)

Status = IndexRequest.Status

# Pauses between looks for a transaction double from one second up to this.
LONGEST_PAUSE_SECONDS = 300

# The pause while no node answers.
OUTAGE_PAUSE_SECONDS = 15

# A request whose worker ended this many times in a row without a result is given up: it may be what ends them.
MAX_UNFINISHED = 5

# A sweep or a confirmation takes on so many requests at a time.
BATCH = 500


class Postponed(Retryable):
    """The chain can't tell yet. `retry_after` is the pause in seconds, None where nobody will try again by itself."""

    def __init__(self, reason: Retryable, *, retry_after: int | None) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.retry_after = retry_after


def index_transaction(*, chain_id: int, tx_hash: str, scheduled: bool = False) -> tuple[str, ...]:
    """Index all launches of a transaction now, and what it did to tokens that we know.

    Returns the addresses of the launched tokens in log order; where none was launched, of those that the events are
    about, which may be none: a claim of fees in a currency belongs to no one token.
    Safe to run twice and at once: what is there is refreshed. The outcome is kept in the transaction's IndexRequest.
    `scheduled` says that the request's own schedule calls; who else asks in between uses up none of its attempts.
    Raises Permanent (UnsupportedChain, LaunchNotFound, LogUndecodable) where the request failed, and Postponed.
    """
    request, opened = _open(chain_id, tx_hash, due_at=_lease_end(timezone.now()))
    if request.from_page and not scheduled:
        # Somebody who is known wants it by now, too.
        IndexRequest.objects.filter(pk=request.pk).update(from_page=False)
    try:
        return _read_and_write(request, installed_launch_chain(chain_id))
    except Retryable as error:
        raise _postpone(request, error, scheduled=scheduled or opened) from error
    except Permanent as error:
        _fail(request, error)
        raise


def schedule(*, chain_id: int, tx_hash: str, pause: int) -> None:
    """Have a transaction of which a page says that it launched something indexed in `pause` seconds.

    What the chain is known to hold of it is left as it is, and so is a schedule. The sweeper enqueues it: with no
    message of its own there is none to lose. Raises UnsupportedChain.
    """
    installed_launch_chain(chain_id)
    if not Token.objects.launched_in(chain_id=chain_id, tx_hash=tx_hash).on_chain().exists():
        _open(chain_id, tx_hash, due_at=timezone.now() + timedelta(seconds=pause), from_page=True)


def begin(*, chain_id: int, tx_hash: str) -> bool:
    """Note that a worker starts on a pending request now, for one lease; False where there is nothing to do.

    A request that has ended its workers too often without a result is given up here, and stays visible as failed.
    """
    pending = IndexRequest.objects.filter(chain_id=chain_id, tx_hash=tx_hash, status=Status.PENDING)
    given_up = pending.filter(unfinished__gte=MAX_UNFINISHED).move(
        status=Status.FAILED, last_error=f"its worker ended {MAX_UNFINISHED} times without a result; the log says why"
    )
    if given_up:
        logger.error("gave up on %s of chain %s: its worker ended without a result", tx_hash, chain_id)
    return bool(pending.move(unfinished=F("unfinished") + 1, due_at=_lease_end(timezone.now())))


def claim_due(now: datetime) -> list[tuple[int, str]]:
    """(chain id, hash) of pending requests that nobody works on; they count as taken for one lease from now."""
    with transaction.atomic():
        due = list(IndexRequest.objects.due(now).select_for_update(skip_locked=True)[:BATCH])
        IndexRequest.objects.filter(pk__in=[request.pk for request in due]).update(due_at=_lease_end(now))
    return [(request.chain_id, request.tx_hash) for request in due]


def reopen(requests: Sequence[IndexRequest]) -> list[tuple[int, str]]:
    """Put requests back to pending from the start, for an operator; returns their (chain id, hash).

    Their tokens stay listed meanwhile.
    """
    chosen = IndexRequest.objects.filter(pk__in=[request.pk for request in requests])
    _restart(chosen, due_at=_lease_end(timezone.now()))
    return [(request.chain_id, request.tx_hash) for request in requests]


def confirm_indexed(chain_id: int) -> int:
    """Settle indexed requests that are deeper than an EVM chain's finality: confirmed, or unwound and back to pending.

    A block counts as dropped only where the chain has another one at its height; a node that lacks the height settles
    nothing. Returns how many were confirmed. Raises UnsupportedChain, NodeUnavailable.
    """
    chain = installed_chain(chain_id)
    final = chain.read_head() - chain.info.finality_depth
    requests = list(IndexRequest.objects.unconfirmed(chain_id=chain_id, up_to_block=final)[:BATCH])
    canonical = chain.read_headers([number for request in requests if (number := request.block_number)])
    if len(canonical) < len({request.block_number for request in requests}):
        logger.warning("chain %s: its node lacks blocks that are due to be confirmed", chain_id)
    confirmed = 0
    for request in requests:
        found = canonical.get(request.block_number or 0)
        if found is not None and found.hash == request.block_hash:
            confirmed += _unchanged(request).move(status=Status.CONFIRMED)
        elif found is not None:
            unwind(request)
    return confirmed


def unwind(request: IndexRequest) -> None:
    """Take back what a request wrote, because its block was dropped, and look for the transaction again.

    The tokens leave all lists and keep their ids and tags: the same launch usually comes back in another block.
    """
    with transaction.atomic():
        chain_lock.share(request.chain_id)
        if _unchanged(request).select_for_update().exists():
            # The follower may have found it in another block meanwhile.
            unwind_transactions(request.chain_id, [request.tx_hash], block_hash=request.block_hash)


def _read_and_write(request: IndexRequest, chain: LaunchChain) -> tuple[str, ...]:
    """The addresses of the request's tokens, once they are written. Raises as `Chain.read_transaction`.

    A block that held something for us holds it for as long as the chain has the block: an answer that leaves it out is
    half an answer, and only another block at that height is a reason to believe it.
    """
    try:
        return _write(request, chain.info, chain.read_transaction(request.tx_hash))
    except LaunchNotFound as error:
        number, block_hash = _block_of(request)
        if number is None:
            raise
        header = chain.read_headers([number]).get(number)
        if header is None or header.hash == block_hash:
            raise NodeUnavailable(
                f"chain {chain.info.chain_id}: half an answer, without what the block held"
            ) from error
        raise


def _open(chain_id: int, tx_hash: str, *, due_at: datetime, from_page: bool = False) -> tuple[IndexRequest, bool]:
    """The transaction's request, and whether its schedule starts here: it is new, or was given up and starts anew."""
    request, created = IndexRequest.objects.get_or_create(
        chain_id=chain_id, tx_hash=tx_hash, defaults={"due_at": due_at, "from_page": from_page}
    )
    if request.status not in (Status.FAILED, Status.ORPHANED):
        return request, created
    reopened = _restart(_unchanged(request), due_at=due_at)
    request.refresh_from_db()
    return request, bool(reopened)


def _restart(requests: IndexRequestQuerySet, *, due_at: datetime) -> int:
    return requests.move(status=Status.PENDING, attempts=0, unfinished=0, last_error="", due_at=due_at)


def _postpone(request: IndexRequest, reason: Retryable, *, scheduled: bool) -> Postponed:
    """Note a try that told nothing. What is already indexed stays so: a node that lags proves nothing."""
    # Of several tries at once, one counts and goes on.
    pending = _unchanged(request).filter(status=Status.PENDING, attempts=request.attempts, due_at=request.due_at)
    if not scheduled:
        return Postponed(reason, retry_after=None)
    # An outage says nothing about the transaction, and however long it lasts, nothing is given up for it.
    found_nothing = isinstance(reason, TransactionNotFound)
    attempts = request.attempts + 1 if found_nothing else request.attempts
    if attempts >= settings.INDEX_MAX_ATTEMPTS:
        _give_up(pending, reason)
        return Postponed(reason, retry_after=None)
    pause = min(2 ** (attempts - 1), LONGEST_PAUSE_SECONDS) if found_nothing else OUTAGE_PAUSE_SECONDS
    due_at = _lease_end(timezone.now() + timedelta(seconds=pause))
    moved = pending.move(attempts=attempts, unfinished=0, last_error=str(reason), due_at=due_at)
    return Postponed(reason, retry_after=pause if moved else None)


def _fail(request: IndexRequest, error: Permanent) -> None:
    """Note that there is nothing to index, and hide what an earlier block held.

    Whoever indexed the transaction in the meantime saw a newer chain; only the chain's own word undoes what is indexed.
    """
    unchanged = _unchanged(request)
    if isinstance(error, LaunchNotFound):
        with transaction.atomic():
            chain_lock.share(request.chain_id)
            if unchanged.select_for_update().exists():
                take_back(Q(chain_id=request.chain_id, tx_hash=request.tx_hash))
                _give_up(unchanged, error)
    else:
        _give_up(unchanged.filter(status=Status.PENDING), error)


def _give_up(requests: IndexRequestQuerySet, reason: Exception) -> None:
    """End a request's schedule. One that was reopened and of which something is still there is indexed as before."""
    for request in requests:
        if _has_written(request):
            status = _written_status(request.chain_id)
        else:
            status = Status.ORPHANED if request.block_hash else Status.FAILED
            logger.warning("gave up on %s of chain %s: %s", request.tx_hash, request.chain_id, reason)
        _unchanged(request).move(status=status, attempts=F("attempts") + 1, unfinished=0, last_error=str(reason))


def _write(request: IndexRequest, chain: ChainInfo, facts: TransactionFacts) -> tuple[str, ...]:
    """Write what the transaction holds and settle the request, in one transaction; returns the tokens' addresses.

    Raises LaunchNotFound where it holds nothing that concerns us, LogUndecodable, and NodeUnavailable where its block
    is not the one that the chain is known to have there.
    """
    with transaction.atomic():
        chain_lock.share(chain.chain_id)
        _check_followed(facts, chain)
        # Every writer of a transaction's rows takes its request first, so that two of the same one take turns.
        IndexRequest.objects.select_for_update().get(pk=request.pk)
        written = write([facts], chain=chain)
        if facts.tx_hash not in written.addresses:
            raise LaunchNotFound("the transaction holds no launch by a known factory, and no event of a known token")
        IndexRequest.objects.filter(pk=request.pk).move(
            status=Status.CONFIRMED if facts.final else Status.INDEXED,
            attempts=F("attempts") + 1,
            unfinished=0,
            last_error="",
            block_number=facts.block_number,
            block_hash=facts.block_hash,
        )
    return written.addresses[facts.tx_hash]


def _check_followed(facts: TransactionFacts, chain: ChainInfo) -> None:
    """Refuse a block that the follower has seen dropped: the node that told of it is behind. Raises NodeUnavailable."""
    there = FollowedBlock.objects.filter(chain_id=chain.chain_id, number=facts.block_number)
    if there.exclude(hash=facts.block_hash).exists():
        raise NodeUnavailable(f"chain {chain.chain_id}: its node tells of a block that the chain has dropped")


def _block_of(request: IndexRequest) -> tuple[int | None, str]:
    """Number and hash of the block in which the transaction is known to be: the follower may know it better."""
    launched = Token.objects.launched_in(chain_id=request.chain_id, tx_hash=request.tx_hash).on_chain()
    kept = TokenEvent.objects.filter(chain_id=request.chain_id, tx_hash=request.tx_hash)
    held = launched.values_list("block_number", "block_hash").union(kept.values_list("block_number", "block_hash"))
    return next(iter(held), (request.block_number, request.block_hash))


def _has_written(request: IndexRequest) -> bool:
    launched = Token.objects.launched_in(chain_id=request.chain_id, tx_hash=request.tx_hash)
    kept = TokenEvent.objects.filter(chain_id=request.chain_id, tx_hash=request.tx_hash)
    return launched.on_chain().exists() or kept.exists()


def _written_status(chain_id: int) -> str:
    """What a request is of which something was written: of Solana nothing is that could be dropped."""
    return Status.CONFIRMED if chain_id == registry().solana.chain_id else Status.INDEXED


def _unchanged(request: IndexRequest) -> IndexRequestQuerySet:
    """The request's row, unless somebody moved it since it was read."""
    return IndexRequest.objects.filter(pk=request.pk, status=request.status, block_hash=request.block_hash)


def _lease_end(start: datetime) -> datetime:
    return start + timedelta(seconds=settings.INDEX_LEASE_SECONDS)
