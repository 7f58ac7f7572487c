"""Celery tasks for deployments and deploy wallets.

The state is in rows: a lost message delays a deployment until the next sweep. Only workers import this: it loads the
signers, and others enqueue with `enqueueing`.
"""

import logging

from config.celery import app, enqueue_unless_waiting
from config.http.errors import PermanentError, RetryableError
from config.postgresql.advisory_locks import LockHeldError
from tokens.deploying.enqueueing import enqueue_deployment
from tokens.deploying.sending import submit, wallets, watch
from tokens.installation.installed_signers import installed_signers

logger = logging.getLogger(__name__)


@app.task(name="tokens.tasks.submit_deployment")
def submit_deployment(deployment_id: int) -> None:
    """Sign and broadcast one deployment; late and duplicate messages have no effect."""
    try:
        submit.submit_deployment(deployment_id)
    except submit.SubmissionDeferredError as deferred:
        logger.warning("deployment %s is not signed: %s", deployment_id, deferred)


@app.task(name="tokens.tasks.sweep_deployments")
def sweep_deployments() -> None:
    """Submit queued deployments, with one task per chain, because a node or a signer may hang."""
    for chain_id in submit.chains_with_unsent():
        enqueue_unless_waiting(submit_waiting, chain_id)


@app.task(name="tokens.tasks.submit_waiting")
def submit_waiting(chain_id: int) -> None:
    """Submit a chain's deployments that were deferred, or lost their task message."""
    try:
        submitted = submit.submit_unsent(chain_id)
    except submit.SubmissionDeferredError as deferred:
        logger.warning("nothing is signed on chain %s: %s", chain_id, deferred)
        return
    if submitted:
        logger.info("submitted %s queued deployments on chain %s", submitted, chain_id)


@app.task(name="tokens.tasks.watch_deployments")
def watch_deployments() -> None:
    """Watch the chains that have deployments in flight: the first one here, and each other one by a task.

    A node may hang, so the others come first.
    """
    chains = watch.chains_in_flight()
    for chain_id in chains[1:]:
        enqueue_unless_waiting(watch_chain, chain_id)
    for chain_id in chains[:1]:
        watch_chain(chain_id)


@app.task(name="tokens.tasks.watch_chain")
def watch_chain(chain_id: int) -> None:
    """Settle, index and rebroadcast a chain's deployments in flight, unless another worker holds its lock."""
    try:
        requeued = watch.watch_chain(chain_id)
    except LockHeldError:
        return
    except (RetryableError, PermanentError) as error:
        logger.warning("can't watch deployments on chain %s: %s", chain_id, error)
        return
    for deployment_id in requeued:
        enqueue_deployment(deployment_id)


@app.task(name="tokens.tasks.confirm_deployments")
def confirm_deployments() -> None:
    """Check blocks of deployments that are not final, with one task per chain."""
    for chain_id in watch.chains_with_unsettled():
        enqueue_unless_waiting(confirm_deployed, chain_id)


@app.task(name="tokens.tasks.confirm_deployed")
def confirm_deployed(chain_id: int) -> None:
    """Reopen deployments in orphaned blocks, and mark final ones."""
    try:
        requeued = watch.confirm_chain(chain_id)
    except (RetryableError, PermanentError) as error:
        logger.warning("can't confirm deployments on chain %s: %s", chain_id, error)
        return
    for deployment_id in requeued:
        enqueue_deployment(deployment_id)


@app.task(name="tokens.tasks.note_deploy_wallets")
def note_deploy_wallets() -> None:
    """Refresh the deploy wallets, with one task per chain, because a node may hang."""
    for chain_id in wallets.chains_with_wallets():
        enqueue_unless_waiting(note_wallets_of_chain, chain_id)


@app.task(name="tokens.tasks.note_wallets_of_chain")
def note_wallets_of_chain(chain_id: int) -> None:
    """Refresh which wallets on a chain have a signer, and their balances."""
    try:
        wallets.refresh_wallets(chain_id, addresses=installed_signers(chain_id).keys())
    except (RetryableError, PermanentError) as error:
        logger.warning("can't refresh the deploy wallets of chain %s: %s", chain_id, error)
