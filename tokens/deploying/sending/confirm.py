"""Mined attempt confirmation: reopened after a reorg, final beyond the chain's finality depth."""

import logging
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from tokens.chains.evm.evm_chain import Chain
from tokens.deploying.sending import state_transitions
from tokens.models import AttemptState, DeployAttempt, Deployment, DeploymentStatus

logger = logging.getLogger(__name__)


def confirm_attempts(chain: Chain) -> None:
    """Check the blocks of attempts that are not final; each block is fetched once. Raises NodeUnavailableError."""
    final = chain.read_head() - chain.info.finality_depth
    unsettled = DeployAttempt.objects.unsettled(chain.info.chain_id).filter(block_number__isnull=False)
    block_rows = unsettled.values_list("block_number", "block_hash").distinct()
    blocks = {(number, block_hash) for number, block_hash in block_rows if number is not None}
    canonical = chain.read_headers({number for number, _ in blocks}) if blocks else {}
    served = {(number, block_hash) for number, block_hash in blocks if number in canonical}
    intact = {(number, block_hash) for number, block_hash in served if canonical[number].hash == block_hash}
    for attempt in _with_deployment(unsettled.filter(block_hash__in=[block_hash for _, block_hash in served - intact])):
        reopen_attempt(attempt)
    _finish(chain, [block_hash for number, block_hash in intact if number <= final])


def find_orphaned(chain: Chain, attempts: Sequence[DeployAttempt]) -> set[int]:
    """Return attempt ids in replaced blocks; a node without that height proves nothing."""
    numbers = {attempt.block_number for attempt in attempts if attempt.block_number is not None}
    headers = chain.read_headers(numbers) if numbers else {}
    return {
        attempt.pk
        for attempt in attempts
        if attempt.block_number in headers and headers[attempt.block_number].hash != attempt.block_hash
    }


def reopen_attempt(attempt: DeployAttempt) -> None:
    """Mark a decided attempt as in flight again: its stored bytes are rebroadcast, or its new receipt is found."""
    deployment = attempt.deployment
    with transaction.atomic():
        locked = Deployment.objects.locked(deployment.pk) if deployment is not None else None
        same = DeployAttempt.objects.filter(pk=attempt.pk, state=attempt.state, block_hash=attempt.block_hash)
        updated = same.update_and_touch(
            state=AttemptState.OPEN,
            reason="",
            tx_hash="",
            block_number=None,
            block_hash="",
            gas_used=None,
            gas_price=None,
            missing_since=None,
            final_at=None,
        )
        if updated and locked is not None:
            _revert_deployment(locked, attempt)
    if updated:
        logger.warning(
            "chain %s: nonce %s of %s is open again: block %s was orphaned",
            attempt.wallet.chain_id,
            attempt.nonce,
            attempt.wallet.address,
            attempt.block_number,
        )


def decided_attempts(wallet_id: int, nonces: Sequence[int]) -> list[DeployAttempt]:
    """Return a wallet's decided attempts with these nonces, final or not."""
    decided = DeployAttempt.objects.filter(wallet=wallet_id, nonce__in=nonces).exclude(state=AttemptState.OPEN)
    return list(_with_deployment(decided))


def _with_deployment(attempts: QuerySet[DeployAttempt]) -> QuerySet[DeployAttempt]:
    return attempts.select_related("deployment", "wallet").defer("deployment__config", "deployment__calldata")


def _revert_deployment(deployment: Deployment, attempt: DeployAttempt) -> None:
    """Move the locked deployment back with its attempt, unless the deployment has a newer or mined one.

    An attempt that is no longer needed is then replaced by an empty transaction.
    """
    newer = DeployAttempt.objects.active(deployment.pk).filter(pk__gt=attempt.pk)
    mined = DeployAttempt.objects.filter(deployment=deployment, state=AttemptState.MINED)
    if not newer.exists() and not mined.exists() and DeployAttempt.objects.active(deployment.pk).exists():
        state_transitions.revert_to_submitted(deployment)


def _finish(chain: Chain, final_blocks: Sequence[str]) -> None:
    """Mark attempts in final blocks as final, and deployments whose attempts are all final."""
    now, chain_id = timezone.now(), chain.info.chain_id
    DeployAttempt.objects.unsettled(chain_id).filter(block_hash__in=final_blocks).update(final_at=now)
    settled = Deployment.objects.filter(
        chain_id=chain_id,
        status__in=(DeploymentStatus.INDEXED, DeploymentStatus.FAILED),
        final_at__isnull=True,
        # Presales are settled by `presales`.
        presale_id__isnull=True,
    )
    in_doubt = DeployAttempt.objects.filter(deployment=OuterRef("pk"), final_at__isnull=True)
    settled.filter(~Exists(in_doubt)).update(final_at=now)
