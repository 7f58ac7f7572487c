"""Celery tasks for index requests, saved tokens and token documents.

The state is in rows: a lost message costs one lease, never a token.
"""

import logging

from django.conf import settings
from django.utils import timezone
from redis.exceptions import RedisError

from config.celery import app, enqueue_task, enqueue_unless_waiting
from config.http.errors import PermanentError, RetryableError
from config.postgresql.advisory_locks import LockHeldError
from tokens.indexing import index_requests, saved_tokens
from tokens.indexing.backlogs import backlog_rounds
from tokens.indexing.documents import fetching
from tokens.installation.installed_registry import evm_chain_ids

logger = logging.getLogger(__name__)


@app.task(name="tokens.tasks.index_transaction")
def index_transaction(chain_id: int, tx_hash: str) -> None:
    """Index a pending transaction. A late or duplicate message has no effect."""
    if not index_requests.begin_attempt(chain_id=chain_id, tx_hash=tx_hash):
        return
    try:
        addresses = index_requests.index_transaction(chain_id=chain_id, tx_hash=tx_hash, scheduled=True)
    except index_requests.IndexingPostponedError as error:
        logger.warning("postponed %s of chain %s: %s", tx_hash, chain_id, error)
        enqueue_retry(error, chain_id=chain_id, tx_hash=tx_hash)
    except PermanentError as error:
        logger.info("indexed nothing from %s of chain %s: %s", tx_hash, chain_id, error)
    else:
        logger.info("indexed %s tokens from %s of chain %s", len(addresses), tx_hash, chain_id)


def enqueue_retry(postponed: index_requests.IndexingPostponedError, *, chain_id: int, tx_hash: str) -> None:
    """Enqueue a postponed request's next attempt, if it has one."""
    if postponed.retry_after is not None:
        enqueue_index_request(chain_id, tx_hash, delay=postponed.retry_after)


def enqueue_index_request(chain_id: int, tx_hash: str, *, delay: float = 0) -> None:
    """Enqueue a pending transaction to be indexed, with a delay in seconds.

    A broker outage is no error: the sweeper finds the request when its lease is over.
    """
    # The message expires with the lease, when the sweeper sends another one, so that no backlog piles up.
    expires = delay + settings.INDEX_LEASE_SECONDS
    try:
        enqueue_task(index_transaction, chain_id, tx_hash, countdown=delay, expires=expires)
    except RedisError as error:
        logger.warning("can't enqueue %s of chain %s: %s", tx_hash, chain_id, error)


@app.task(name="tokens.tasks.sweep_index_requests")
def sweep_index_requests() -> None:
    """Enqueue pending requests whose message or worker was lost."""
    due = index_requests.claim_due_requests(timezone.now())
    for chain_id, tx_hash in due:
        enqueue_index_request(chain_id, tx_hash)
    if due:
        logger.info("swept %s index requests", len(due))


@app.task(name="tokens.tasks.prune_saved_tokens")
def prune_saved_tokens() -> None:
    """Delete launch reports that the chain did not confirm."""
    pruned = saved_tokens.prune_unconfirmed()
    if pruned:
        logger.info("pruned %s rows of unconfirmed saved tokens", pruned)


@app.task(name="tokens.tasks.confirm_index_requests")
def confirm_index_requests() -> None:
    """Enqueue a confirmation for every EVM chain with a node. One task per chain, because a node may hang."""
    for chain_id in evm_chain_ids():
        enqueue_unless_waiting(confirm_chain, chain_id)


@app.task(name="tokens.tasks.confirm_chain")
def confirm_chain(chain_id: int) -> None:
    """Confirm or unwind indexed transactions below the chain's finality depth."""
    try:
        confirmed = index_requests.confirm_indexed(chain_id)
    except (RetryableError, PermanentError) as error:
        logger.warning("can't confirm on chain %s: %s", chain_id, error)
        return
    if confirmed:
        logger.info("confirmed %s transactions on chain %s", confirmed, chain_id)


@app.task(name="tokens.tasks.fetch_documents")
def fetch_documents() -> None:
    """Fetch the token documents that are due, unless a round is running."""
    try:
        fetched = fetching.fetch_due_documents()
    except LockHeldError:
        return
    if fetched:
        logger.info("fetched %s token documents", fetched)


@app.task(name="tokens.tasks.read_pool_backlogs")
def read_pool_backlogs() -> None:
    """Read pool logs in blocks that were read before their token, or its quote token's decimals, were known."""
    ended = backlog_rounds.read_due_backlogs()
    if ended:
        logger.info("ended the backlogs of %s pools", ended)
