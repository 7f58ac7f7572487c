"""Celery's doors to indexing, deploying and market data.

The truth is in rows: a lost message costs one lease, never a token.
"""

import logging
from typing import Any

from django.conf import settings
from django.utils import timezone
from kombu.exceptions import OperationalError
from redis.exceptions import ConnectionError, RedisError

from config.celery import app
from config.http.json_client import Permanent, Retryable
from config.postgresql.advisory_locks import HeldElsewhere
from config.redis.connection import redis
from tokens.catalogue import totals
from tokens.catalogue.selections import Selection
from tokens.deploying.sending import submit, wallets, watch
from tokens.indexing import index_requests, saved_tokens
from tokens.indexing.documents import fetching
from tokens.installation.installed_chains import evm_chain_ids
from tokens.market import price_history, price_refresh

logger = logging.getLogger(__name__)

# The next round comes by then.
CONFIRM_EXPIRES_SECONDS = 30
# From then on the sweeper sees to an order.
SUBMIT_EXPIRES_SECONDS = 30
# The next ones are about to come, and would find the same.
SWEEP_EXPIRES_SECONDS = 5
WATCH_EXPIRES_SECONDS = 1
NOTE_EXPIRES_SECONDS = 30


@app.task
def index_transaction(chain_id: int, tx_hash: str) -> None:
    """Index one transaction that is pending; a message that comes late or twice does nothing."""
    if not index_requests.begin(chain_id=chain_id, tx_hash=tx_hash):
        return
    try:
        addresses = index_requests.index_transaction(chain_id=chain_id, tx_hash=tx_hash, scheduled=True)
    except index_requests.Postponed as error:
        logger.warning("nothing yet from %s of chain %s: %s", tx_hash, chain_id, error)
        retry_later(error, chain_id=chain_id, tx_hash=tx_hash)
    except Permanent as error:
        logger.info("nothing indexed from %s of chain %s: %s", tx_hash, chain_id, error)
    else:
        logger.info("indexed %s tokens from %s of chain %s", len(addresses), tx_hash, chain_id)


def retry_later(postponed: index_requests.Postponed, *, chain_id: int, tx_hash: str) -> None:
    """Enqueue the next try of a request that was put off, if there is to be one."""
    if postponed.retry_after is not None:
        enqueue(chain_id, tx_hash, pause=postponed.retry_after)


def enqueue(chain_id: int, tx_hash: str, *, pause: int = 0) -> None:
    """Have a worker index a pending transaction after the pause in seconds.

    A broker that is away is no error: the sweeper finds the request when its lease is over.
    """
    # A message that waited for longer than a lease has a successor from the sweeper, so that no backlog can pile up.
    expires = pause + settings.INDEX_LEASE_SECONDS
    try:
        _send(index_transaction, chain_id, tx_hash, countdown=pause, expires=expires)
    except RedisError as error:
        logger.warning("can't enqueue %s of chain %s: %s", tx_hash, chain_id, error)


def _send(task: Any, *arguments: Any, **options: Any) -> None:
    """Enqueue a task, unless the broker has just failed: somebody may be waiting. Raises RedisError."""
    with redis().attempts.attempt():
        try:
            task.apply_async(arguments, **options)
        except OperationalError as error:
            raise ConnectionError(str(error)) from error


@app.task
def sweep_index_requests() -> None:
    """Enqueue pending requests whose message or worker was lost."""
    due = index_requests.claim_due(timezone.now())
    for chain_id, tx_hash in due:
        enqueue(chain_id, tx_hash)
    if due:
        logger.info("swept %s index requests", len(due))


@app.task
def prune_saved_tokens() -> None:
    """Delete what pages said of launches and the chain did not confirm."""
    pruned = saved_tokens.prune()
    if pruned:
        logger.info("pruned %s rows of what pages had said of launches", pruned)


@app.task
def confirm_index_requests() -> None:
    """Have every EVM chain that has a node looked at; each by a task of its own, because one may hang."""
    for chain_id in evm_chain_ids():
        confirm_chain.apply_async((chain_id,), expires=CONFIRM_EXPIRES_SECONDS)


@app.task
def confirm_chain(chain_id: int) -> None:
    """Confirm or unwind what is deeper than the chain's finality."""
    try:
        confirmed = index_requests.confirm_indexed(chain_id)
    except (Retryable, Permanent) as error:
        logger.warning("can't confirm on chain %s: %s", chain_id, error)
        return
    if confirmed:
        logger.info("confirmed %s transactions on chain %s", confirmed, chain_id)


def enqueue_count(selection: Selection) -> None:
    """Have a worker count a selection, unless one is counting: counts are heavy, and launches wait behind them."""
    if not totals.claim_count():
        return
    try:
        values = [list(pair) for pair in selection.values]
        _send(count_selection, selection.filter_set, values, expires=totals.REFRESHED_SECONDS)
    except RedisError as error:
        logger.warning("can't enqueue a count: %s", error)


@app.task
def count_selection(filter_set: str, values: list[tuple[str, str]]) -> None:
    """Count a selection of more tokens than a request counts; lists say the number for the next minute."""
    number = totals.count(Selection(filter_set, tuple((name, value) for name, value in values)))
    if number is None:
        logger.warning("counting %s took too long: its total stays an estimate for a while", dict(values))
    else:
        logger.info("counted %s tokens", number)


@app.task
def refresh_markets() -> None:
    """Refresh the market data that is due, as far as the provider's limit goes."""
    refreshed = price_refresh.refresh_due()
    if refreshed:
        # Every few seconds.
        logger.debug("refreshed the market data of %s tokens", refreshed)


@app.task
def prune_market_history() -> None:
    """Delete the points of market history that are too old."""
    pruned = price_history.prune()
    if pruned:
        logger.info("pruned %s points of market history", pruned)


@app.task
def fetch_documents() -> None:
    """Fetch the documents of tokens that are due, unless somebody is at it."""
    try:
        asked = fetching.fetch_due()
    except HeldElsewhere:
        return
    if asked:
        logger.info("asked for %s documents of tokens", asked)


def enqueue_deployment(deployment_id: int) -> None:
    """Have a worker sign and send an order that waits; to be called once it is committed.

    A broker that is away is no error: the sweeper finds what waits.
    """
    try:
        _send(submit_deployment, deployment_id, expires=SUBMIT_EXPIRES_SECONDS)
    except RedisError as error:
        logger.warning("can't enqueue deployment %s: %s", deployment_id, error)


@app.task
def submit_deployment(deployment_id: int) -> None:
    """Sign and send one order; a message that comes late or twice does nothing."""
    try:
        submit.submit(deployment_id)
    except submit.Hindered as hindered:
        logger.warning("deployment %s is not signed: %s", deployment_id, hindered)


@app.task
def sweep_deployments() -> None:
    """Have what waits on each chain submitted; by tasks of their own, because a node or a signer may hang."""
    for chain_id in submit.chains_with_waiting():
        submit_waiting.apply_async((chain_id,), expires=SWEEP_EXPIRES_SECONDS)


@app.task
def submit_waiting(chain_id: int) -> None:
    """Submit orders of a chain whose message was lost, or that something hindered."""
    try:
        submitted = submit.submit_waiting(chain_id)
    except submit.Hindered as hindered:
        logger.warning("nothing is signed on chain %s: %s", chain_id, hindered)
        return
    if submitted:
        logger.info("submitted %s deployments that waited on chain %s", submitted, chain_id)


@app.task
def watch_deployments() -> None:
    """Have each chain on which something is in flight looked after; each by a task of its own."""
    for chain_id in watch.chains_in_flight():
        watch_chain.apply_async((chain_id,), expires=WATCH_EXPIRES_SECONDS)


@app.task
def watch_chain(chain_id: int) -> None:
    """Settle, finish and push on what is in flight on a chain, unless somebody is at it."""
    try:
        back = watch.watch(chain_id)
    except HeldElsewhere:
        return
    except (Retryable, Permanent) as error:
        logger.warning("can't look after deployments on chain %s: %s", chain_id, error)
        return
    for deployment_id in back:
        enqueue_deployment(deployment_id)


@app.task
def confirm_deployments() -> None:
    """Have the blocks of deployments looked at on each chain where some are not final; each by a task of its own."""
    for chain_id in watch.chains_unsettled():
        confirm_deployed.apply_async((chain_id,), expires=CONFIRM_EXPIRES_SECONDS)


@app.task
def confirm_deployed(chain_id: int) -> None:
    """Take deployments back whose block was dropped, and leave alone what is final."""
    try:
        back = watch.confirm(chain_id)
    except (Retryable, Permanent) as error:
        logger.warning("can't confirm deployments on chain %s: %s", chain_id, error)
        return
    for deployment_id in back:
        enqueue_deployment(deployment_id)


@app.task
def note_deploy_wallets() -> None:
    """Have the deploy wallets of each chain noted; each by a task of its own, because a node may hang."""
    for chain_id in wallets.noted_chains():
        note_wallets_of_chain.apply_async((chain_id,), expires=NOTE_EXPIRES_SECONDS)


@app.task
def note_wallets_of_chain(chain_id: int) -> None:
    """Note whose keys there are and what the wallets own."""
    try:
        number = wallets.note_wallets(chain_id)
    except (Retryable, Permanent) as error:
        logger.warning("can't note the deploy wallets of chain %s: %s", chain_id, error)
        return
    logger.debug("noted %s deploy wallets of chain %s", number, chain_id)
