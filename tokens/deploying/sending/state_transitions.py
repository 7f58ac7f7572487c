"""Deployment state transitions: guarded updates, so that exactly one concurrent caller succeeds."""

import logging
from typing import Any

from django.db import transaction
from django.db.models import Q

from config.http.errors import PermanentError
from tokens.deploying.sending.presales import is_presale
from tokens.models import DeployAttempt, Deployment, DeploymentStatus

logger = logging.getLogger(__name__)


# Wait reasons for partners, without this installation's details.
PAUSED = "waiting: deployments on this chain are paused"
NO_WALLET = "waiting: the service can't send transactions on this chain now"
BUSY = "waiting: other deployments go first"
NO_FUNDS = "waiting: the service can't pay for it on this chain now"
NO_NODE = "waiting: the chain can't be reached now"
FEES = "waiting: the chain's fees are higher than the service pays"


def record_wait_reason(deployment: Deployment, message: str) -> None:
    """Store why a deployment waits, for its partner."""
    Deployment.objects.filter(pk=deployment.pk, status=DeploymentStatus.ENQUEUED).exclude(
        error=message
    ).update_and_touch(error=message)


def mark_failed(deployment: Deployment, reason: str) -> bool:
    """Fail a queued deployment, or one whose only attempt failed; return False if its status has changed.

    Its other attempts in flight may still be mined, and count then.
    """
    with transaction.atomic():
        locked = Deployment.objects.locked(deployment.pk)
        if locked is None or locked.status not in (DeploymentStatus.ENQUEUED, DeploymentStatus.SUBMITTED):
            return False
        _log(deployment, f"failed: {reason}", logging.WARNING)
        return bool(
            Deployment.objects.filter(pk=deployment.pk).update_and_touch(status=DeploymentStatus.FAILED, error=reason)
        )


def mark_mined(deployment: Deployment, *, tx_hash: str, presale_id: int | None = None) -> bool:
    """Mark a deployment as mined by this transaction; "" is one that is not found yet.

    `presale_id` is the presale that it started.
    """
    doubtful = Q(status__in=(DeploymentStatus.ENQUEUED, DeploymentStatus.SUBMITTED, DeploymentStatus.FAILED))
    # The token existed, and now its transaction is known.
    unexplained = Q(status=DeploymentStatus.MINED, tx_hash="")
    updated = Deployment.objects.filter(doubtful | unexplained, pk=deployment.pk).update_and_touch(
        status=DeploymentStatus.MINED, tx_hash=tx_hash, presale_id=presale_id, error="", final_at=None
    )
    if updated:
        _log(deployment, f"mined: {tx_hash or 'its token exists'}")
    return bool(updated)


def revert_unexplained(deployment: Deployment) -> bool:
    """Mark a deployment as submitted again: its token, whose transaction is unknown, is gone after a reorg."""
    updated = Deployment.objects.filter(pk=deployment.pk, status=DeploymentStatus.MINED, tx_hash="").update_and_touch(
        status=DeploymentStatus.SUBMITTED
    )
    if updated:
        _log(deployment, "back to submitted: its token is gone", logging.WARNING)
    return bool(updated)


def requeue_deployment(deployment: Deployment) -> bool:
    """Queue a new attempt for a deployment without an active one; return False if it has one, or its status changed."""
    with transaction.atomic():
        locked = Deployment.objects.locked(deployment.pk)
        if (
            locked is None
            or locked.status != DeploymentStatus.SUBMITTED
            or DeployAttempt.objects.active(deployment.pk).exists()
        ):
            return False
        # Two starts make two presales: no attempt may come back by a reorg.
        if is_presale(locked) and has_unsettled_attempts(deployment.pk):
            return False
        _log(deployment, "queued again: its nonce was used by another transaction", logging.WARNING)
        return bool(
            Deployment.objects.filter(pk=deployment.pk).update_and_touch(
                status=DeploymentStatus.ENQUEUED, tx_hash="", error=""
            )
        )


def has_unsettled_attempts(deployment_id: int) -> bool:
    """Return whether a deployment has attempts in flight or in a block that is not final."""
    return DeployAttempt.objects.filter(deployment_id=deployment_id, final_at__isnull=True).exists()


def revert_to_submitted(deployment: Deployment) -> bool:
    """Mark a deployment as submitted again, because its attempt's block was orphaned."""
    changes: dict[str, Any] = {"status": DeploymentStatus.SUBMITTED, "error": "", "token": None, "final_at": None}
    if is_presale(deployment):
        # Another start has another presale id, and its launch another address.
        changes |= {"presale_id": None, "expected_address": ""}
    updated = (
        Deployment.objects.filter(pk=deployment.pk)
        .exclude(status=DeploymentStatus.SUBMITTED)
        .update_and_touch(**changes)
    )
    if updated:
        _log(deployment, "back to submitted: its block was orphaned by a reorg", logging.WARNING)
    return bool(updated)


def _log(deployment: Deployment, what: str, level: int = logging.INFO) -> None:
    logger.log(level, "chain %s: deployment %s %s", deployment.chain_id, deployment.request_key, what)


class NotRetryableError(PermanentError):
    """Raised when a deployment did not fail, or may still succeed; the text has the reason."""


def retry_failed(deployment_id: int) -> None:
    """Queue a failed deployment again, for an operator, under the same request key and address.

    The caller enqueues it (`tasks.enqueue_deployment`) after the commit. It is checked and simulated again before it is
    signed: if its token exists, no gas is spent. Raises NotRetryableError.
    """
    with transaction.atomic():
        deployment = Deployment.objects.locked(deployment_id)
        if deployment is None or deployment.status != DeploymentStatus.FAILED:
            raise NotRetryableError("only a failed deployment can be retried")
        if deployment.presale_id is not None:
            raise NotRetryableError("its presale took place, and failed")
        if is_presale(deployment) and has_unsettled_attempts(deployment.pk):
            raise NotRetryableError("a presale could be started twice: retry when its last transaction is final")
        Deployment.objects.filter(pk=deployment.pk).update_and_touch(
            status=DeploymentStatus.ENQUEUED, error="", tx_hash="", final_at=None
        )
    logger.info("chain %s: deployment %s is queued again by an operator", deployment.chain_id, deployment.request_key)
