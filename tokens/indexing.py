"""A transaction hash goes in, listed tokens come out; and beside it the way back, when the chain drops the block."""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from config.http import Permanent, Retryable
from tokens.chains.base import Launch, LaunchNotFound
from tokens.chains.registry import ChainInfo
from tokens.installed_chains import installed_chain, registry
from tokens.launch_rows import token_columns
from tokens.models import IndexRequest, Token
from tokens.querysets import IndexRequestQuerySet

logger = logging.getLogger(__name__)

Status = IndexRequest.Status

# Pauses between tries double from one second up to this.
LONGEST_PAUSE_SECONDS = 300

# A sweep or a confirmation takes on so many requests at a time.
BATCH = 500

_IDENTITY = ("chain_id", "contract_address")


class Postponed(Retryable):
    """The chain can't tell yet. `retry_after` is the pause in seconds, None where nobody will try again by itself."""

    def __init__(self, reason: Retryable, *, retry_after: int | None) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.retry_after = retry_after


def index_transaction(*, chain_id: int, tx_hash: str) -> tuple[str, ...]:
    """Index all launches of a transaction now, and return their token addresses in log order.

    Safe to run twice and at once: what is there is refreshed. The outcome is kept in the transaction's IndexRequest.
    Raises Permanent (UnsupportedChain, LaunchNotFound, LogUndecodable) where the request failed, and Postponed.
    """
    request = _open(chain_id, tx_hash)
    try:
        chain = installed_chain(chain_id)
        launches = chain.read_launches(tx_hash)
    except Retryable as error:
        raise _postpone(request, error) from error
    except Permanent as error:
        _fail(request, error)
        raise
    _write(request, chain.info, launches)
    return tuple(launch.token for launch in launches)


def claim_due(now: datetime) -> list[tuple[int, str]]:
    """(chain id, hash) of pending requests that nobody works on; they count as taken for one lease from now."""
    with transaction.atomic():
        due = list(IndexRequest.objects.due(now).select_for_update(skip_locked=True)[:BATCH])
        IndexRequest.objects.filter(pk__in=[request.pk for request in due]).update(due_at=_lease_end(now))
    return [(request.chain_id, request.tx_hash) for request in due]


def reopen(requests: Sequence[IndexRequest]) -> list[tuple[int, str]]:
    """Put requests back to pending from the start, for an operator; returns their (chain id, hash)."""
    IndexRequest.objects.filter(pk__in=[request.pk for request in requests]).update(
        status=Status.PENDING, attempts=0, last_error="", due_at=_lease_end(timezone.now())
    )
    return [(request.chain_id, request.tx_hash) for request in requests]


def confirm_indexed(chain_id: int) -> int:
    """Settle indexed requests that are deeper than the chain's finality: confirmed, or unwound and back to pending.

    A block counts as dropped only where the chain has another one at its height; a node that lacks the height settles
    nothing. Returns how many were confirmed. Raises UnsupportedChain, NodeUnavailable.
    """
    chain = installed_chain(chain_id)
    final = chain.read_head() - chain.info.finality_depth
    requests = list(IndexRequest.objects.unconfirmed(chain_id=chain_id, up_to_block=final)[:BATCH])
    canonical = chain.read_block_hashes([number for request in requests if (number := request.block_number)])
    confirmed = 0
    for request in requests:
        found = canonical.get(request.block_number or 0)
        if found == request.block_hash:
            confirmed += _still_indexed(request).update(status=Status.CONFIRMED)
        elif found is not None:
            unwind(request)
    return confirmed


def unwind(request: IndexRequest) -> None:
    """Take back what a request wrote, because its block was dropped, and look for the transaction again.

    The tokens leave all lists and keep their ids and tags: the same launch usually comes back in another block.
    """
    with transaction.atomic():
        moved = _still_indexed(request).update(
            status=Status.PENDING, attempts=0, due_at=timezone.now(), last_error="its block was dropped by a reorg"
        )
        if moved:
            _hide_tokens(request)
            logger.warning("chain %s dropped block %s of %s", request.chain_id, request.block_hash, request.tx_hash)


def _open(chain_id: int, tx_hash: str) -> IndexRequest:
    """The transaction's request; one that was given up starts anew."""
    request, _ = IndexRequest.objects.get_or_create(
        chain_id=chain_id, tx_hash=tx_hash, defaults={"due_at": _lease_end(timezone.now())}
    )
    if request.status in (Status.FAILED, Status.ORPHANED):
        reopen([request])
        request.refresh_from_db()
    return request


def _postpone(request: IndexRequest, reason: Retryable) -> Postponed:
    """Note a try that told nothing. What is already indexed stays so: a node that lags proves nothing."""
    pending = IndexRequest.objects.filter(pk=request.pk, status=Status.PENDING)
    attempts = request.attempts + 1
    if attempts >= settings.INDEX_MAX_ATTEMPTS:
        given_up = Status.ORPHANED if request.block_hash else Status.FAILED
        pending.update(status=given_up, attempts=F("attempts") + 1, last_error=str(reason))
        return Postponed(reason, retry_after=None)
    pause = min(2 ** (attempts - 1), LONGEST_PAUSE_SECONDS)
    due_at = _lease_end(timezone.now() + timedelta(seconds=pause))
    moved = pending.update(attempts=F("attempts") + 1, last_error=str(reason), due_at=due_at)
    return Postponed(reason, retry_after=pause if moved else None)


def _fail(request: IndexRequest, error: Permanent) -> None:
    """Note that there is nothing to index, and hide what an earlier block held."""
    with transaction.atomic():
        gone = isinstance(error, LaunchNotFound) and bool(_hide_tokens(request))
        IndexRequest.objects.filter(pk=request.pk).update(
            status=Status.ORPHANED if gone else Status.FAILED, attempts=F("attempts") + 1, last_error=str(error)
        )


def _write(request: IndexRequest, chain: ChainInfo, launches: Sequence[Launch]) -> None:
    """Upsert the launches' tokens and settle the request, in one transaction."""
    now = timezone.now()
    presets = registry().presets.values()
    columns = [token_columns(launch, chain=chain, presets=presets) | {"last_indexed": now} for launch in launches]
    # Rows in one order, so that two writers of the same transaction can't wait for each other.
    columns.sort(key=lambda row: row["contract_address"])
    with transaction.atomic():
        Token.objects.bulk_create(
            [Token(**row) for row in columns],
            update_conflicts=True,
            unique_fields=_IDENTITY,
            update_fields=[name for name in columns[0] if name not in _IDENTITY],
        )
        _hide_tokens(request, but=[launch.token for launch in launches])
        IndexRequest.objects.filter(pk=request.pk).update(
            status=Status.INDEXED,
            attempts=F("attempts") + 1,
            last_error="",
            block_number=launches[0].block_number,
            block_hash=launches[0].block_hash,
        )


def _hide_tokens(request: IndexRequest, *, but: Sequence[str] = ()) -> int:
    launched = Token.objects.launched_in(chain_id=request.chain_id, tx_hash=request.tx_hash)
    return launched.exclude(contract_address__in=but).update(unindexed=True)


def _still_indexed(request: IndexRequest) -> IndexRequestQuerySet:
    """The request, unless somebody indexed it again in the meantime."""
    return IndexRequest.objects.filter(pk=request.pk, status=Status.INDEXED, block_hash=request.block_hash)


def _lease_end(start: datetime) -> datetime:
    return start + timedelta(seconds=settings.INDEX_LEASE_SECONDS)
