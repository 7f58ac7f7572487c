"""The blocks that decided attempts: dropped by a reorg, and the attempt is in flight again; or too deep for that."""

import logging
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from tokens.chains.protocols import Chain
from tokens.deploying.sending import state_transitions
from tokens.models import DeployAttempt, Deployment

logger = logging.getLogger(__name__)

State = DeployAttempt.State


def confirm(chain: Chain) -> None:
    """Look at the blocks of all that may still be dropped; each is asked for once. Raises NodeUnavailable."""
    final = chain.read_head() - chain.info.finality_depth
    unsettled = DeployAttempt.objects.unsettled(chain.info.chain_id).filter(block_number__isnull=False)
    found = unsettled.values_list("block_number", "block_hash").distinct()
    blocks = {(number, block_hash) for number, block_hash in found if number is not None}
    canonical = chain.read_headers({number for number, _ in blocks}) if blocks else {}
    known = {(number, block_hash) for number, block_hash in blocks if number in canonical}
    kept = {(number, block_hash) for number, block_hash in known if canonical[number].hash == block_hash}
    for attempt in _with_order(unsettled.filter(block_hash__in=[block_hash for _, block_hash in known - kept])):
        reopen(attempt)
    _finish(chain, [block_hash for number, block_hash in kept if number <= final])


def find_dropped(chain: Chain, attempts: Sequence[DeployAttempt]) -> set[int]:
    """Ids of those whose block the chain has replaced by another one; a node that lacks the height proves nothing."""
    numbers = {attempt.block_number for attempt in attempts if attempt.block_number is not None}
    headers = chain.read_headers(numbers) if numbers else {}
    return {
        attempt.pk
        for attempt in attempts
        if attempt.block_number in headers and headers[attempt.block_number].hash != attempt.block_hash
    }


def reopen(attempt: DeployAttempt) -> None:
    """Count a decided attempt as in flight again: its stored bytes are sent anew, or what mined it again is found."""
    order = attempt.deployment
    with transaction.atomic():
        locked = Deployment.objects.locked(order.pk) if order is not None else None
        same = DeployAttempt.objects.filter(pk=attempt.pk, state=attempt.state, block_hash=attempt.block_hash)
        moved = same.move(
            state=State.OPEN,
            reason="",
            tx_hash="",
            block_number=None,
            block_hash="",
            gas_used=None,
            gas_price=None,
            missing_since=None,
            final_at=None,
        )
        if moved and locked is not None:
            _follow_back(locked, attempt)
    if moved:
        logger.warning(
            "chain %s: nonce %s of %s is open again: it is not used as of block %s any more",
            attempt.wallet.chain_id,
            attempt.nonce,
            attempt.wallet.address,
            attempt.block_number,
        )


def by_nonce(wallet_id: int, nonces: Sequence[int]) -> list[DeployAttempt]:
    """What is decided of a wallet's nonces, final or not."""
    decided = DeployAttempt.objects.filter(wallet=wallet_id, nonce__in=nonces).exclude(state=State.OPEN)
    return list(_with_order(decided))


def _with_order(attempts: QuerySet[DeployAttempt]) -> QuerySet[DeployAttempt]:
    return attempts.select_related("deployment", "wallet").defer("deployment__config", "deployment__calldata")


def _follow_back(order: Deployment, attempt: DeployAttempt) -> None:
    """Move the order, which is locked, back with its attempt, unless another attempt of it is newer or mined.

    An attempt that is not wanted any more is then replaced by an empty transaction.
    """
    newer = DeployAttempt.objects.live(order.pk).filter(pk__gt=attempt.pk)
    mined = DeployAttempt.objects.filter(deployment=order, state=State.MINED)
    if not newer.exists() and not mined.exists() and DeployAttempt.objects.live(order.pk).exists():
        state_transitions.back_to_submitted(order)


def _finish(chain: Chain, final_blocks: Sequence[str]) -> None:
    """Leave alone what is in blocks that are deep enough, and orders of which all is."""
    now, chain_id = timezone.now(), chain.info.chain_id
    DeployAttempt.objects.unsettled(chain_id).filter(block_hash__in=final_blocks).update(final_at=now)
    settled = Deployment.objects.filter(
        chain_id=chain_id,
        status__in=(Deployment.Status.INDEXED, Deployment.Status.FAILED),
        final_at__isnull=True,
        # Those are seen to by `presales`.
        presale_id__isnull=True,
    )
    in_doubt = DeployAttempt.objects.filter(deployment=OuterRef("pk"), final_at__isnull=True)
    settled.filter(~Exists(in_doubt)).update(final_at=now)
