"""Moves of orders from one status to the next: guarded, so that of several that try, one does."""

import logging
from typing import Any

from django.db import transaction
from django.db.models import Q

from config.http.json_client import Permanent
from tokens.deploying.sending.presales import is_presale
from tokens.models import DeployAttempt, Deployment

logger = logging.getLogger(__name__)

Status = Deployment.Status

# Words for the partner, who is told what the matter is and nothing of how this installation is made.
PAUSED = "waiting: deployments on this chain are paused"
NO_WALLET = "waiting: the service can't send transactions on this chain now"
BUSY = "waiting: other deployments go first"
NO_FUNDS = "waiting: the service can't pay for it on this chain now"
NO_NODE = "waiting: the chain can't be reached now"
FEES = "waiting: the chain's fees are higher than the service pays"


def say(order: Deployment, words: str) -> None:
    """Tell the partner why an order waits."""
    Deployment.objects.filter(pk=order.pk, status=Status.ENQUEUED).exclude(error=words).move(error=words)


def fail(order: Deployment, reason: str) -> bool:
    """Give an order up that waits, or whose only attempt came to nothing; False where it has moved on meanwhile.

    Whatever else of it is in flight may still be mined, and counts then.
    """
    with transaction.atomic():
        locked = Deployment.objects.locked(order.pk)
        if locked is None or locked.status not in (Status.ENQUEUED, Status.SUBMITTED):
            return False
        _log(order, f"failed: {reason}", logging.WARNING)
        return bool(Deployment.objects.filter(pk=order.pk).move(status=Status.FAILED, error=reason))


def count_as_mined(order: Deployment, *, tx_hash: str, presale_id: int | None = None) -> bool:
    """Note that an order is carried out, by this transaction, "" is one that is still to be found.

    `presale_id` is that of the presale which it started.
    """
    doubtful = Q(status__in=(Status.ENQUEUED, Status.SUBMITTED, Status.FAILED))
    # Its token was there, and now it is known how.
    unexplained = Q(status=Status.MINED, tx_hash="")
    moved = Deployment.objects.filter(doubtful | unexplained, pk=order.pk).move(
        status=Status.MINED, tx_hash=tx_hash, presale_id=presale_id, error="", final_at=None
    )
    if moved:
        _log(order, f"mined: {tx_hash or 'its token is there'}")
    return bool(moved)


def doubt(order: Deployment) -> bool:
    """Note that the token of an order is gone, which was there by whatever transaction: its block was dropped."""
    moved = Deployment.objects.filter(pk=order.pk, status=Status.MINED, tx_hash="").move(status=Status.SUBMITTED)
    if moved:
        _log(order, "back to submitted: its token is gone", logging.WARNING)
    return bool(moved)


def put_back(order: Deployment) -> bool:
    """Have a new attempt made of an order that none carries out any more; False where one does, or it moved on."""
    with transaction.atomic():
        locked = Deployment.objects.locked(order.pk)
        if locked is None or locked.status != Status.SUBMITTED or DeployAttempt.objects.live(order.pk).exists():
            return False
        # Two starts of a presale make two presales: none of its attempts may come back by a reorg.
        if is_presale(locked) and order_is_unsettled(order.pk):
            return False
        _log(order, "back in line: its nonce was used by another transaction", logging.WARNING)
        return bool(Deployment.objects.filter(pk=order.pk).move(status=Status.ENQUEUED, tx_hash="", error=""))


def order_is_unsettled(deployment_id: int) -> bool:
    """Whether anything of an order is in flight, or in a block that may still be dropped."""
    return DeployAttempt.objects.filter(deployment_id=deployment_id, final_at__isnull=True).exists()


def back_to_submitted(order: Deployment) -> bool:
    """Note that an attempt of an order is in flight again, because its block was dropped."""
    changes: dict[str, Any] = {"status": Status.SUBMITTED, "error": "", "token": None, "final_at": None}
    if is_presale(order):
        # Another start has another id, and its launch another address.
        changes |= {"presale_id": None, "expected_address": ""}
    moved = Deployment.objects.filter(pk=order.pk).exclude(status=Status.SUBMITTED).move(**changes)
    if moved:
        _log(order, "back to submitted: its block was dropped by a reorg", logging.WARNING)
    return bool(moved)


def _log(order: Deployment, what: str, level: int = logging.INFO) -> None:
    logger.log(level, "chain %s: deployment %s %s", order.chain_id, order.request_key, what)


# An operator has another go at a deployment that failed, under the same key and for the same address.
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
