"""Celery's doors to indexing. The truth is in the IndexRequest rows: a lost message costs one lease, never a token."""

import logging
from typing import Any

from celery import Task, shared_task
from django.conf import settings
from django.utils import timezone

from config.http import Permanent, Retryable
from tokens import indexing
from tokens.models import IndexRequest

logger = logging.getLogger(__name__)


@shared_task(bind=True, max_retries=None)
def index_transaction(self: "Task[Any, Any]", chain_id: int, tx_hash: str) -> None:
    """Index one transaction that is pending; a message that comes late or twice does nothing."""
    if not IndexRequest.objects.filter(chain_id=chain_id, tx_hash=tx_hash, status="pending").exists():
        return
    try:
        addresses = indexing.index_transaction(chain_id=chain_id, tx_hash=tx_hash)
    except indexing.Postponed as error:
        if error.retry_after is None:
            logger.warning("gave up on %s of chain %s: %s", tx_hash, chain_id, error)
            return
        raise self.retry(exc=error, countdown=error.retry_after) from error
    except Permanent as error:
        logger.info("nothing indexed from %s of chain %s: %s", tx_hash, chain_id, error)
    else:
        logger.info("indexed %s launches from %s of chain %s", len(addresses), tx_hash, chain_id)


def retry_later(postponed: indexing.Postponed, *, chain_id: int, tx_hash: str) -> None:
    """Enqueue the next try of a request that was put off, if there is to be one."""
    if postponed.retry_after is not None:
        index_transaction.apply_async((chain_id, tx_hash), countdown=postponed.retry_after)


@shared_task
def sweep_index_requests() -> None:
    """Enqueue pending requests whose message or worker was lost."""
    due = indexing.claim_due(timezone.now())
    for chain_id, tx_hash in due:
        index_transaction.delay(chain_id, tx_hash)
    if due:
        logger.info("swept %s index requests", len(due))


@shared_task
def confirm_index_requests() -> None:
    """Confirm or unwind what is deeper than finality, on every chain that has a node."""
    for chain_id in settings.RPC_URLS:
        try:
            confirmed = indexing.confirm_indexed(chain_id)
        except (Retryable, Permanent) as error:
            logger.warning("can't confirm on chain %s: %s", chain_id, error)
            continue
        if confirmed:
            logger.info("confirmed %s transactions on chain %s", confirmed, chain_id)
