"""Messages to the workers that sign; sent by task name, since the tasks load the signers."""

import logging

from redis.exceptions import RedisError

from config.celery import app, enqueue_task

logger = logging.getLogger(__name__)

# After this time the sweeper submits the deployment.
SUBMIT_EXPIRES_SECONDS = 30


def enqueue_deployment(deployment_id: int) -> None:
    """Enqueue a stored deployment for submission; call it after the commit.

    An unavailable broker is no error: the sweeper finds queued deployments.
    """
    try:
        enqueue_task(app.signature("tokens.tasks.submit_deployment"), deployment_id, expires=SUBMIT_EXPIRES_SECONDS)
    except RedisError as error:
        logger.warning("can't enqueue deployment %s: %s", deployment_id, error)
