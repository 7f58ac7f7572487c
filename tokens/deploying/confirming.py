"""The blocks that decided attempts: dropped by a reorg, and the attempt is in flight again; or too deep for that."""

import logging
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from tokens.chains.chain import Chain
from tokens.deploying import moves
from tokens.models import DeployAttempt, Deployment

logger = logging.getLogger(__name__)

State = DeployAttempt.State

# So many attempts are looked at in one go, the oldest first.
BATCH = 2_000


def confirm(chain: Chain) -> None:
    """Look at the blocks of all that may still be dropped; each is asked for once. Raises NodeUnavailable."""
    unsettled = DeployAttempt.objects.unsettled(chain.info.chain_id).filter(block_number__isnull=False)
    attempts = list(_with_order(unsettled.order_by("block_number", "pk"))[:BATCH])
    final = chain.read_head() - chain.info.finality_depth
    dropped = find_dropped(chain, attempts)
    for attempt in attempts:
        if attempt.pk in dropped:
            reopen(attempt)
    kept = [attempt.pk for attempt in attempts if attempt.pk not in dropped]
    _finish(chain, kept, final=final)


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
            "chain %s: nonce %s of %s is open again: block %s was dropped",
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
        moves.back_to_submitted(order)


def _finish(chain: Chain, kept: Sequence[int], *, final: int) -> None:
    """Leave alone what is deep enough, and orders of which all is."""
    now = timezone.now()
    DeployAttempt.objects.filter(pk__in=kept, block_number__lte=final).exclude(state=State.OPEN).update(final_at=now)
    settled = Deployment.objects.filter(
        chain_id=chain.info.chain_id,
        status__in=(Deployment.Status.INDEXED, Deployment.Status.FAILED),
        final_at__isnull=True,
        # Those are seen to by `presales`.
        presale_id__isnull=True,
    )
    in_doubt = DeployAttempt.objects.filter(deployment=OuterRef("pk"), final_at__isnull=True)
    settled.filter(~Exists(in_doubt)).update(final_at=now)
