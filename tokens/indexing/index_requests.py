"""Index request state transitions: indexing, retries, confirmation and unwinding."""

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from config.http.backoff import Backoff
from config.http.errors import PermanentError, RetryableError
from tokens.chains.errors import LaunchNotFoundError, LogDecodingError, NodeUnavailableError, TransactionNotFoundError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import BlockHeader, TransactionFacts
from tokens.indexing import chain_lock
from tokens.indexing.backlogs import pool_backlogs
from tokens.indexing.relaunches import unwind_dropped_launches
from tokens.indexing.unwinding import drop_states, hide_and_delete, unwind_transactions
from tokens.indexing.writing import write_transactions
from tokens.installation.installed_chains import LaunchChain, installed_chain, installed_launch_chain
from tokens.installation.installed_launchpads import launchpad_of
from tokens.installation.installed_registry import registry
from tokens.models import FollowedBlock, IndexRequest, IndexRequestStatus, StoredState, Token, TokenEvent
from tokens.models.index_request import IndexRequestQuerySet

logger = logging.getLogger(__name__)

BACKOFF = Backoff(first=1, longest=300)

# The retry delay while no node responds.
OUTAGE_RETRY_DELAY_SECONDS = 15

# The most requests that a sweep or a confirmation processes.
BATCH_SIZE = 500

# Block number and hash.
_Block = tuple[int, str]


class IndexingPostponedError(RetryableError):
    """Indexing that has to be retried.

    `retry_after` is the delay in seconds. It is None if this call schedules no retry.
    """

    def __init__(self, reason: RetryableError, *, retry_after: float | None) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.retry_after = retry_after


def index_transaction(*, chain_id: int, tx_hash: str, scheduled: bool = False, swept: bool = False) -> tuple[str, ...]:
    """Index a transaction's launches, and its events of indexed tokens.

    Return the launched tokens' addresses in log order. Without a launch, return the addresses of the events' tokens,
    which may be none: a fee claim in a currency belongs to no token.

    Idempotent and safe to run concurrently: existing rows are refreshed. The outcome is stored in the transaction's
    IndexRequest. `scheduled` is True for attempts by the request's own schedule; other calls use up none of
    its attempts. `swept` is True for callers that enqueue no retry: the sweeper does it after the delay.

    Raises PermanentError (UnsupportedChainError, LaunchNotFoundError, LogDecodingError) if the request failed, and
    IndexingPostponedError.
    """
    lease_end = timezone.now() + _lease()
    request, opened = _open(chain_id, tx_hash, due_at=lease_end, leased_until=lease_end)
    if request.from_page and not scheduled:
        # An authenticated caller has requested it as well.
        IndexRequest.objects.filter(pk=request.pk).update(from_page=False)
    try:
        chain = installed_launch_chain(chain_id)
        addresses = _read_and_write(request, chain)
    except RetryableError as error:
        raise _postpone(request, error, scheduled=scheduled or opened, swept=swept) from error
    except PermanentError as error:
        _fail(request, error)
        raise
    if isinstance(chain, Chain):
        pool_backlogs.read_at_once(chain, tx_hash)
    return addresses


def schedule_indexing(*, chain_id: int, tx_hash: str, delay: int) -> None:
    """Schedule the indexing of a transaction that a page has reported, in `delay` seconds.

    An indexed launch and an existing schedule stay unchanged. The sweeper enqueues the request,
    so no message can be lost. Raises UnsupportedChainError.
    """
    installed_launch_chain(chain_id)
    if not Token.objects.launched_in(chain_id=chain_id, tx_hash=tx_hash).on_chain().exists():
        _open(chain_id, tx_hash, due_at=timezone.now() + timedelta(seconds=delay), from_page=True)


def begin_attempt(*, chain_id: int, tx_hash: str) -> bool:
    """Take a pending request for one lease and return True; return False if there is nothing to do.

    A request whose attempts crashed their workers too often fails here.
    """
    return bool(IndexRequest.objects.filter(chain_id=chain_id, tx_hash=tx_hash).begin(timezone.now(), lease=_lease()))


def claim_due_requests(now: datetime) -> list[tuple[int, str]]:
    """Postpone pending requests that are due by one lease. Return their (chain id, hash), to be enqueued."""
    due = IndexRequest.objects.postpone_due(now, by=_lease(), count=BATCH_SIZE)
    return [(request.chain_id, request.tx_hash) for request in due]


def reopen_requests(requests: Sequence[IndexRequest]) -> list[tuple[int, str]]:
    """Reset requests to pending, for an operator. Return their (chain id, hash).

    Their tokens stay listed meanwhile.
    """
    rows = IndexRequest.objects.filter(pk__in=[request.pk for request in requests])
    rows.requeue(due_at=timezone.now() + _lease(), status=IndexRequestStatus.PENDING)
    return [(request.chain_id, request.tx_hash) for request in requests]


def confirm_indexed(chain_id: int) -> int:
    """Settle indexed requests below an EVM chain's finality depth: confirm them, or unwind and reopen them.

    A request has two blocks to settle: the transaction's block, and the block for which its tokens' state was read. The
    launches are confirmed with the first, which may be final long before. A block counts as dropped only if the chain
    has another block at its height. A node that lacks a height settles nothing. Return how many requests were
    confirmed. Raises UnsupportedChainError, NodeUnavailableError.
    """
    chain = installed_chain(chain_id)
    final = chain.read_head() - chain.info.finality_depth
    requests = list(IndexRequest.objects.unconfirmed(chain_id=chain_id, up_to_block=final)[:BATCH_SIZE])
    launching = list(IndexRequest.objects.launching_unconfirmed(chain_id=chain_id, up_to_block=final)[:BATCH_SIZE])
    of_states = _state_blocks(requests, chain_id)
    numbers = {request.block_number for request in (*requests, *launching) if request.block_number}
    numbers |= {number for blocks in of_states.values() for number, _ in blocks}
    canonical = chain.read_headers(numbers)
    if len(canonical) < len(numbers):
        logger.warning("chain %s: its node lacks blocks that are to be confirmed", chain_id)
    confirmed = 0
    for request in launching:
        is_canonical = _are_canonical([(request.block_number or 0, request.block_hash)], canonical)
        if is_canonical:
            _confirm_launches(request)
        elif is_canonical is False:
            unwind_request(request)
    for request in requests:
        own, states = (request.block_number or 0, request.block_hash), of_states[request.tx_hash]
        if _are_canonical([own], canonical) is False:
            unwind_request(request)
        elif _are_canonical(states, canonical) is False:
            _drop_states(request, [block_hash for _, block_hash in states])
        elif _are_canonical([own, *states], canonical):
            confirmed += _confirm(request)
    return confirmed


def _confirm(request: IndexRequest) -> bool:
    """Confirm a request and its launches. Return False if a concurrent index call may have stored a newer state."""
    with transaction.atomic():
        same = _unchanged(request).filter(updated_at=request.updated_at)
        if not same.update(status=IndexRequestStatus.CONFIRMED):
            return False
        _confirm_launches(request)
        return True


def _confirm_launches(request: IndexRequest) -> None:
    """Confirm the request's launches in its block, which is final. Launches in another block were indexed later."""
    launched = Token.objects.launched_in(chain_id=request.chain_id, tx_hash=request.tx_hash)
    launched.filter(block_hash=request.block_hash).confirm()


def _state_blocks(requests: Sequence[IndexRequest], chain_id: int) -> defaultdict[str, set[_Block]]:
    """Return transaction hash -> its tokens' state blocks."""
    blocks_by_hash: defaultdict[str, set[_Block]] = defaultdict(set)
    launched = Token.objects.filter(chain_id=chain_id, tx_hash__in=[request.tx_hash for request in requests])
    states = StoredState.objects.filter(token__in=launched)
    for tx_hash, number, block_hash in states.values_list("token__tx_hash", "block_number", "block_hash"):
        blocks_by_hash[tx_hash].add((number, block_hash))
    return blocks_by_hash


def _are_canonical(blocks: Collection[_Block], canonical: Mapping[int, BlockHeader]) -> bool | None:
    """Return whether the chain has all of these blocks: False if it has another one, None if the node lacks one."""
    headers = [(canonical.get(number), block_hash) for number, block_hash in blocks]
    if any(header is not None and header.hash != block_hash for header, block_hash in headers):
        return False
    return None if any(header is None for header, _ in headers) else True


def unwind_request(request: IndexRequest) -> None:
    """Unwind the rows of a request after its block was dropped, and reopen the request.

    The tokens leave all lists and keep their ids and tags: the same launch usually returns in another block.
    """
    with transaction.atomic():
        chain_lock.lock_exclusive(request.chain_id)
        if _unchanged(request).select_for_update().exists():
            # The follower may have indexed it in another block meanwhile.
            unwind_transactions(request.chain_id, [request.tx_hash], block_hash=request.block_hash)


def _drop_states(request: IndexRequest, block_hashes: Sequence[str]) -> None:
    """Drop the states of a request's tokens after their blocks were dropped, and reopen the request."""
    with transaction.atomic():
        chain_lock.lock_exclusive(request.chain_id)
        if _unchanged(request).select_for_update().exists():
            drop_states(request.chain_id, Q(token__tx_hash=request.tx_hash, block_hash__in=block_hashes))


def _read_and_write(request: IndexRequest, chain: LaunchChain) -> tuple[str, ...]:
    """Read the transaction, write its rows and return the addresses of its tokens. Raises as `Chain.read_with_state`.

    A block's contents never change while the chain has the block. A response without the stored rows is therefore
    incomplete, unless the chain has another block at that height. Rows of a launchpad that is switched off stay.
    """
    try:
        facts = chain.read_with_state(request.tx_hash)
        unwind_dropped_launches(facts, chain)
        return _write(request, chain.info, facts)
    except LaunchNotFoundError as error:
        number, block_hash = _block_of(request)
        if number is None:
            raise
        header = chain.read_headers([number]).get(number)
        if header is not None and header.hash == block_hash and (addresses := _find_switched_off(request, chain.info)):
            block = {"block_number": number, "block_hash": block_hash}
            IndexRequest.objects.filter(pk=request.pk).finish(status=IndexRequestStatus.INDEXED, **block)
            return addresses
        if header is None or header.hash == block_hash:
            raise NodeUnavailableError(
                f"chain {chain.info.chain_id}: incomplete response, without stored rows of the block"
            ) from error
        raise


def _find_switched_off(request: IndexRequest, chain: ChainInfo) -> tuple[str, ...]:
    """Return tokens in the transaction's rows whose launchpad is switched off: no reading has them."""
    tx = {"chain_id": request.chain_id, "tx_hash": request.tx_hash}
    of_events = TokenEvent.objects.filter(**tx).values("token")
    tokens = Token.objects.on_chain().filter(Q(**tx) | Q(pk__in=of_events)).order_by("log_index", "pk")
    return tuple(
        address
        for address, generation in tokens.values_list("contract_address", "generation")
        if not chain.indexes(launchpad_of(generation).name)
    )


def _open(
    chain_id: int, tx_hash: str, *, due_at: datetime, leased_until: datetime | None = None, from_page: bool = False
) -> tuple[IndexRequest, bool]:
    """Return the transaction's request, and whether its schedule starts here.

    It starts for a new request, and for one that is reopened after a failure.
    """
    schedule = {"due_at": due_at, "leased_until": leased_until}
    request, created = IndexRequest.objects.get_or_create(
        chain_id=chain_id, tx_hash=tx_hash, defaults=schedule | {"from_page": from_page}
    )
    if request.status not in (IndexRequestStatus.FAILED, IndexRequestStatus.ORPHANED):
        return request, created
    reopened = _unchanged(request).requeue(status=IndexRequestStatus.PENDING, **schedule)
    request.refresh_from_db()
    return request, bool(reopened)


def _postpone(
    request: IndexRequest, reason: RetryableError, *, scheduled: bool, swept: bool = False
) -> IndexingPostponedError:
    """Store an attempt without a result. Indexed rows stay: a node that lags proves nothing."""
    # Only one among concurrent attempts counts and schedules the next.
    pending = _unchanged(request).filter(
        status=IndexRequestStatus.PENDING, attempts=request.attempts, leased_until=request.leased_until
    )
    if not scheduled:
        return IndexingPostponedError(reason, retry_after=None)
    # An outage proves nothing about the transaction: it uses up no attempt, however long it lasts.
    found_nothing = isinstance(reason, TransactionNotFoundError)
    attempts = request.attempts + 1 if found_nothing else request.attempts
    if attempts >= settings.INDEX_MAX_ATTEMPTS:
        _give_up(pending, reason)
        return IndexingPostponedError(reason, retry_after=None)
    delay = BACKOFF.delay(attempts) if found_nothing else OUTAGE_RETRY_DELAY_SECONDS
    # The sweeper takes over a lease after the next attempt's message, if there is one.
    due_at = timezone.now() + timedelta(seconds=delay) + (timedelta() if swept else _lease())
    moved = pending.release(due_at=due_at, attempts=attempts, last_error=str(reason), node_outage=not found_nothing)
    return IndexingPostponedError(reason, retry_after=delay if moved else None)


def _fail(request: IndexRequest, error: PermanentError) -> None:
    """Store that the transaction has nothing to index, and hide tokens from an earlier block.

    A concurrent call that indexed the transaction has read a newer chain. Only the chain's own response undoes indexed
    rows.
    """
    unchanged = _unchanged(request)
    if isinstance(error, LaunchNotFoundError):
        with transaction.atomic():
            chain_lock.lock_exclusive(request.chain_id)
            if unchanged.select_for_update().exists():
                hide_and_delete(Q(chain_id=request.chain_id, tx_hash=request.tx_hash))
                _give_up(unchanged, error)
    else:
        _give_up(unchanged.filter(status=IndexRequestStatus.PENDING), error)


def _give_up(requests: IndexRequestQuerySet, reason: Exception) -> None:
    """End the requests' schedule. A reopened request with existing rows returns to its indexed state."""
    for request in requests:
        if _has_written(request):
            status = _written_status(request.chain_id)
        else:
            status = IndexRequestStatus.ORPHANED if request.block_hash else IndexRequestStatus.FAILED
            logger.warning("gave up on %s of chain %s: %s", request.tx_hash, request.chain_id, reason)
        _unchanged(request).finish(status=status, last_error=str(reason), **_decoding_state(reason))


def _decoding_state(reason: Exception | None = None) -> dict[str, Any]:
    """Return a request's columns for the reason why it failed, if it did."""
    log = reason.log if isinstance(reason, LogDecodingError) else None
    return {
        "undecodable": isinstance(reason, LogDecodingError),
        "contract": log.emitter if log else "",
        "launchpad": (log.launchpad or "") if log else "",
    }


def _write(request: IndexRequest, chain: ChainInfo, facts: TransactionFacts) -> tuple[str, ...]:
    """Write the transaction's rows and settle the request, in one database transaction.

    Return the tokens' addresses. Raises LaunchNotFoundError if it holds neither a launch nor a trusted event,
    LogDecodingError, and NodeUnavailableError if the follower has another block at its height.
    """
    with transaction.atomic():
        chain_lock.lock_exclusive(chain.chain_id)
        _check_followed(facts, chain)
        # Every writer locks the transaction's request first, so that concurrent writers are serialized.
        if IndexRequest.objects.select_for_update().get(pk=request.pk).undecodable:
            # Until the same reading finds malformed logs again.
            IndexRequest.objects.filter(pk=request.pk).update(**_decoding_state())
        is_known = _has_written(request)
        written = write_transactions([facts], chain=chain)
        if not is_known:
            pool_backlogs.open_unread(facts.launches, chain=chain)
        if facts.tx_hash not in written.addresses:
            for log in (*facts.undecodable, *written.undecodable):
                raise LogDecodingError(log.reason, log=log)
            raise LaunchNotFoundError(
                "the transaction holds no launch by a known factory, and no event of a known token"
            )
        IndexRequest.objects.add_undecodable(chain.chain_id, facts.undecodable)
        IndexRequest.objects.filter(pk=request.pk).finish(
            status=IndexRequestStatus.CONFIRMED if facts.final else IndexRequestStatus.INDEXED,
            block_number=facts.block_number,
            block_hash=facts.block_hash,
        )
    return written.addresses[facts.tx_hash]


def _check_followed(facts: TransactionFacts, chain: ChainInfo) -> None:
    """Raise NodeUnavailableError for a block that the follower has seen dropped: the node that reported it lags."""
    blocks = {facts.block_number: facts.block_hash}
    if facts.state:
        blocks[facts.state.block_number] = facts.state.block_hash
    followed = FollowedBlock.objects.filter(chain_id=chain.chain_id, number__in=blocks)
    if any(blocks[number] != block_hash for number, block_hash in followed.values_list("number", "hash")):
        raise NodeUnavailableError(f"chain {chain.chain_id}: its node reports a block that the chain has dropped")


def _block_of(request: IndexRequest) -> tuple[int | None, str]:
    """Return the transaction's block number and hash. The follower's rows may be newer than the request's."""
    launched = Token.objects.launched_in(chain_id=request.chain_id, tx_hash=request.tx_hash).on_chain()
    events = TokenEvent.objects.filter(chain_id=request.chain_id, tx_hash=request.tx_hash)
    held = launched.values_list("block_number", "block_hash").union(events.values_list("block_number", "block_hash"))
    return next(iter(held), (request.block_number, request.block_hash))


def _has_written(request: IndexRequest) -> bool:
    """Return whether the transaction has rows."""
    launched = Token.objects.launched_in(chain_id=request.chain_id, tx_hash=request.tx_hash)
    events = TokenEvent.objects.filter(chain_id=request.chain_id, tx_hash=request.tx_hash)
    return launched.on_chain().exists() or events.exists()


def _written_status(chain_id: int) -> str:
    """Return the status for a request with stored rows. Solana is read at finality, so nothing can be dropped there."""
    return IndexRequestStatus.CONFIRMED if chain_id == registry().solana.chain_id else IndexRequestStatus.INDEXED


def _unchanged(request: IndexRequest) -> IndexRequestQuerySet:
    """Return a queryset with the request's row, empty if the row changed since it was read."""
    return IndexRequest.objects.filter(pk=request.pk, status=request.status, block_hash=request.block_hash)


def _lease() -> timedelta:
    return timedelta(seconds=settings.INDEX_LEASE_SECONDS)
