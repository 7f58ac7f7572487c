"""A wallet's nonce queue: open attempts from the chain's next nonce on. Only the first can be mined.

Gaps are filled with empty transactions, cancelled attempts become empty, stuck attempts get a fee bump, and
transactions that nodes may have dropped are rebroadcast.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from itertools import islice
from operator import or_

from django.conf import settings
from django.db.models import Max, Q
from django.utils import timezone

from tokens.chains.evm.evm_chain import Chain
from tokens.deploying.sending import broadcasting, replacement
from tokens.models import (
    AttemptState,
    BroadcastErrorCode,
    DeployAttempt,
    DeploymentStatus,
    DeployWallet,
    SignedTransaction,
    TransactionPurpose,
)

logger = logging.getLogger(__name__)


# Nodes keep this many transactions per sender; only the first ones can be mined soon.
FRONT = 16
# Rebroadcast interval.
RESEND_SECONDS = 5
# Deployment statuses that need an attempt in flight.
_WANTED = (DeploymentStatus.SUBMITTED, DeploymentStatus.ENQUEUED)


@dataclass(frozen=True, kw_only=True, slots=True)
class QueuedAttempt:
    """Attempt in its wallet's nonce queue, with its newest version; None if none was ever stored."""

    attempt: DeployAttempt
    version: SignedTransaction | None
    # Whether a newer attempt exists for the same deployment.
    outdated: bool


def process_nonce_queue(chain: Chain, wallet: DeployWallet, *, count: int) -> None:
    """Fill gaps, cancel, fee-bump and rebroadcast a wallet's first FRONT transactions.

    `count` is the chain's next nonce. Raises NodeUnavailableError.
    """
    queue = _front(wallet, count)
    if not queue:
        return
    used_nonces = {queued.attempt.nonce for queued in queue}
    # There may be millions of gaps, if a node reported a wrong nonce.
    gaps = list(islice((nonce for nonce in range(count, queue[-1].attempt.nonce) if nonce not in used_nonces), FRONT))
    if gaps:
        replacement.fill_nonce_gaps(chain, wallet, gaps)
        queue = _front(wallet, count)
    for queued in queue:
        if not _is_wanted(queued) and not replacement.cancel_attempt(chain, queued.attempt, newest=queued.version):
            # Each further attempt would wait as long for a hanging signer, and so would other wallets.
            break
    else:
        _bump_stuck_fees(chain, [queued for queued in queue if _is_wanted(queued)], count=count)
    rebroadcast_front(chain, wallet, count=count)


def rebroadcast_front(chain: Chain, wallet: DeployWallet, *, count: int) -> None:
    """Broadcast the newest versions in the queue's front that were not sent for RESEND_SECONDS."""
    newest = [queued.version for queued in _front(wallet, count) if queued.version]
    candidates = Q(pk__in=[version.pk for version in newest]) | _cheaper(newest)
    due = Q(sent_at__isnull=True) | Q(sent_at__lt=timezone.now() - timedelta(seconds=RESEND_SECONDS))
    rows = SignedTransaction.objects.filter(candidates, due).select_related("attempt__wallet", "attempt__deployment")
    light = rows.defer("attempt__deployment__config", "attempt__deployment__calldata")
    broadcasting.broadcast_versions(chain, list(light.order_by("pk")))


def _cheaper(versions: Sequence[SignedTransaction]) -> Q:
    """Return a filter for earlier versions if the wallet can't fund the newest: they may be mined once fees fall."""
    before = [
        Q(attempt=version.attempt_id, purpose=version.purpose, pk__lt=version.pk)
        for version in versions
        if version.error_code == BroadcastErrorCode.INSUFFICIENT_FUNDS
    ]
    return reduce(or_, before, Q(pk__in=()))


def _front(wallet: DeployWallet, count: int) -> list[QueuedAttempt]:
    """Return the queue's first attempts, by nonce."""
    queue = DeployAttempt.objects.filter(
        wallet=wallet, nonce__gte=count, state=AttemptState.OPEN, final_at__isnull=True
    )
    attempts = list(
        queue.select_related("deployment", "wallet")
        .defer("deployment__config", "deployment__calldata")
        .order_by("nonce")[:FRONT]
    )
    newest = SignedTransaction.objects.filter(attempt__in=attempts).values("attempt").annotate(last=Max("pk"))
    versions = SignedTransaction.objects.filter(pk__in=newest.values("last")).defer("raw")
    by_attempt = {version.attempt_id: version for version in versions}
    active = DeployAttempt.objects.active(*(attempt.deployment_id for attempt in attempts if attempt.deployment_id))
    latest = dict(active.values("deployment").annotate(last=Max("pk")).values_list("deployment", "last"))
    return [
        QueuedAttempt(
            attempt=attempt,
            version=by_attempt.get(attempt.pk),
            outdated=latest.get(attempt.deployment_id or 0, 0) > attempt.pk,
        )
        for attempt in attempts
    ]


def _is_wanted(queued: QueuedAttempt) -> bool:
    """Return whether the newest version is the needed one: empty without a deployment, else the deployment's."""
    deployment = queued.attempt.deployment
    if queued.version is not None and queued.version.purpose == TransactionPurpose.CANCEL:
        return True
    if deployment is None or deployment.status not in _WANTED:
        return False
    # A lost attempt that a reorg brought back is outdated if its deployment has a newer one.
    return not queued.outdated


def _bump_stuck_fees(chain: Chain, queue: Sequence[QueuedAttempt], *, count: int) -> None:
    """Bump the first attempt's fee if it was not mined for DEPLOY_STUCK_SECONDS.

    Then bump later ones with a fee below the base fee: each would be stuck as long in its turn.
    """
    if not queue or queue[0].attempt.nonce != count or not _is_stuck(chain, queue[0]):
        return
    if not _replace(chain, queue[0]):
        return
    base_fee = chain.read_fees().base_fee
    for queued in queue[1:]:
        if queued.version is not None and queued.version.max_fee < base_fee and not _replace(chain, queued):
            return


def _replace(chain: Chain, queued: QueuedAttempt) -> bool:
    return (
        queued.version is not None and replacement.bump_fees(chain, queued.attempt, newest=queued.version) is not None
    )


def _is_stuck(chain: Chain, first: QueuedAttempt) -> bool:
    # A fee bump doesn't help a wallet without funds.
    if first.version is None or first.version.error_code == BroadcastErrorCode.INSUFFICIENT_FUNDS:
        return False
    since = _at_front_since(first.attempt, first.version)
    if timezone.now() - since < timedelta(seconds=settings.DEPLOY_STUCK_SECONDS):
        return False
    # A fee bump doesn't help while the chain makes no blocks.
    return chain.read_newest_header().time >= since.timestamp()


def _at_front_since(attempt: DeployAttempt, version: SignedTransaction) -> datetime:
    """Return when the version was signed, or the preceding nonce was mined, whichever is later."""
    before = DeployAttempt.objects.filter(wallet=attempt.wallet_id, nonce=attempt.nonce - 1).exclude(
        state=AttemptState.OPEN
    )
    times: Sequence[datetime] = list(before.values_list("updated_at", flat=True))
    return max([version.signed_at, *times])
