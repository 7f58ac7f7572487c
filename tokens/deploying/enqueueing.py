"""The deployment queue's entry: a stored row, and after its commit a message to the workers that sign.

The message names the task, since the tasks load the signers.
"""

import logging

from django.db import transaction
from redis.exceptions import RedisError

from config.celery import app, enqueue_task
from tokens.deploying import airdrop_proofs, quotas
from tokens.deploying.sending import pause_flags
from tokens.deploying.simulation import SimulatedDeployment

logger = logging.getLogger(__name__)

# After this time the sweeper submits the deployment.
SUBMIT_EXPIRES_SECONDS = 30


def store_deployment(simulated: SimulatedDeployment) -> None:
    """Store the deployment; the caller enqueues it after the commit.

    Raises IntegrityError if its key has one, DeploymentsPausedError, QuotaExceededError.
    """
    deployment, airdrop = simulated.deployment, simulated.launch_request.config.airdrop
    with transaction.atomic():
        pause_flags.check_not_paused(deployment.chain_id)
        deployment.save(force_insert=True)
        if airdrop is not None:
            airdrop_proofs.store_tree(deployment, tree=airdrop.tree, entries=airdrop.entries)
        if deployment.partner_key is not None:
            quotas.check_quota(deployment, partner=deployment.partner_key)


def enqueue_deployment(deployment_id: int) -> None:
    """Enqueue a stored deployment for submission; call it after the commit.

    An unavailable broker is no error: the sweeper finds queued deployments.
    """
    try:
        enqueue_task(app.signature("tokens.tasks.submit_deployment"), deployment_id, expires=SUBMIT_EXPIRES_SECONDS)
    except RedisError as error:
        logger.warning("can't enqueue deployment %s: %s", deployment_id, error)
