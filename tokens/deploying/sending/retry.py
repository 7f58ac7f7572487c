"""An operator has another go at a deployment that failed, under the same key and for the same address."""

import logging

from django.db import transaction

from config.http.json_client import Permanent
from tokens.deploying.sending.presales import is_presale
from tokens.deploying.sending.state_transitions import order_is_unsettled
from tokens.models import Deployment

logger = logging.getLogger(__name__)


class NotRetryable(Permanent):
    """The deployment did not fail, or something of it may still come to be; the text says which."""


def retry(deployment_id: int) -> None:
    """Put a failed deployment back in line; the caller has it submitted (`tasks.enqueue_deployment`) after the commit.

    It is looked at and simulated anew before anything is signed: where its token is there, no gas is spent.
    Raises NotRetryable.
    """
    with transaction.atomic():
        order = Deployment.objects.locked(deployment_id)
        if order is None or order.status != Deployment.Status.FAILED:
            raise NotRetryable("only a deployment that failed can be tried again")
        if order.presale_id is not None:
            raise NotRetryable("its presale was held, and failed")
        if is_presale(order) and order_is_unsettled(order.pk):
            raise NotRetryable("a presale could be started twice: try again when its last transaction is final")
        Deployment.objects.filter(pk=order.pk).move(
            status=Deployment.Status.ENQUEUED, error="", tx_hash="", final_at=None
        )
    logger.info("chain %s: deployment %s is tried again", order.chain_id, order.request_key)
