"""Settlement of attempts with a used nonce: mined, reverted, or used by another transaction."""

import logging
from collections.abc import Mapping, Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from tokens.chains.evm.evm_chain import Chain
from tokens.chains.transaction_types import AccountState, TransactionOutcome
from tokens.deploying.sending import confirm, presales, state_transitions
from tokens.deploying.sending.presales import is_presale
from tokens.deploying.sending.signed_versions import deployment_call
from tokens.deploying.sending.wallet_alerts import clear_alerts
from tokens.models import (
    AttemptState,
    DeployAttempt,
    Deployment,
    DeploymentStatus,
    DeployWallet,
    SignedTransaction,
    TransactionPurpose,
    WalletAlert,
)

logger = logging.getLogger(__name__)


# How long a receipt may be missing while the nonce counts as used: nodes behind one URL differ in height.
MISSING_SECONDS = 10
# Attempts per call.
BATCH = 200


def settle_attempts(
    chain: Chain, wallets: Sequence[DeployWallet], *, accounts: Mapping[str, AccountState]
) -> list[int]:
    """Settle these wallets' in-flight attempts whose nonces are used.

    Return the deployment ids that are queued again, because another transaction used their nonce. Raises
    NodeUnavailableError.
    """
    used, unused = Q(), Q()
    for wallet in wallets:
        used |= Q(wallet=wallet, nonce__lt=accounts[wallet.address].nonce)
        unused |= Q(wallet=wallet, nonce__gte=accounts[wallet.address].nonce)
    if not used:
        return []
    in_flight = DeployAttempt.objects.in_flight(chain.info.chain_id)
    # A node was ahead, or a block was orphaned: a missing receipt's time starts anew.
    in_flight.filter(unused, missing_since__isnull=False).update_and_touch(missing_since=None)
    open_ones = in_flight.filter(used).order_by("wallet", "nonce")
    attempts = list(open_ones.select_related("deployment", "wallet")[:BATCH])
    signed = _versions(attempts)
    outcomes = chain.read_outcomes([version.tx_hash for versions in signed.values() for version in versions])
    requeued = []
    for attempt in attempts:
        if not _record_any(chain, attempt, signed[attempt.pk], outcomes) and _record_missing(
            chain, attempt, signed[attempt.pk]
        ):
            requeued += [attempt.deployment_id] if attempt.deployment_id else []
    return requeued


def requeue_lost(chain: Chain) -> list[int]:
    """Queue deployments without an active attempt again; return their ids. Raises NodeUnavailableError."""
    submitted = Deployment.objects.filter(chain_id=chain.info.chain_id, status=DeploymentStatus.SUBMITTED)
    idle = submitted.filter(final_at__isnull=True).exclude(tries__state__in=(AttemptState.OPEN, AttemptState.MINED))
    requeued = []
    for deployment in idle.defer("calldata")[:BATCH]:
        last = deployment.tries.order_by("-pk").first()
        if last is not None and last.state == AttemptState.REVERTED:
            # The process that recorded the revert crashed before the follow-up.
            _settle_failed(chain, deployment, AttemptState.REVERTED, last.reason)
        elif (
            not mark_if_launched(chain, deployment)
            and not _find_again(chain, deployment)
            and state_transitions.requeue_deployment(deployment)
        ):
            requeued.append(deployment.pk)
    return requeued


def _find_again(chain: Chain, deployment: Deployment) -> bool:
    """Return whether a lost attempt is in a block after all; it is then reopened, to be settled.

    A presale can't be found by its salt after its sale has ended; without this check it would be started twice.
    """
    lost = DeployAttempt.objects.filter(deployment=deployment, state=AttemptState.LOST).select_related(
        "deployment", "wallet"
    )
    signed = _versions(list(lost))
    outcomes = chain.find_outcomes([version.tx_hash for versions in signed.values() for version in versions])
    mined_attempts = [one for one in lost if any(version.tx_hash in outcomes for version in signed[one.pk])]
    for attempt in mined_attempts:
        confirm.reopen_attempt(attempt)
    return bool(mined_attempts)


def mark_if_launched(chain: Chain, deployment: Deployment) -> bool:
    """Return whether the token exists or the presale started, by any transaction; the deployment is then mined.

    Raises NodeUnavailableError.
    """
    if is_presale(deployment):
        presale_id = presales.find_started_presale(chain, deployment)
        return presale_id is not None and state_transitions.mark_mined(deployment, tx_hash="", presale_id=presale_id)
    # A node that is behind would return the earlier state.
    decided = deployment.tries.aggregate(newest=Max("block_number"))["newest"] or 0
    return chain.has_code(deployment.expected_address, since=decided) and state_transitions.mark_mined(
        deployment, tx_hash=""
    )


def _versions(attempts: Sequence[DeployAttempt]) -> dict[int, list[SignedTransaction]]:
    """Return attempt -> its versions without their bytes, newest first."""
    versions_by_attempt: dict[int, list[SignedTransaction]] = {attempt.pk: [] for attempt in attempts}
    for version in SignedTransaction.objects.filter(attempt__in=attempts).defer("raw").order_by("-pk"):
        versions_by_attempt[version.attempt_id].append(version)
    return versions_by_attempt


def _record_any(
    chain: Chain,
    attempt: DeployAttempt,
    versions: Sequence[SignedTransaction],
    outcomes: Mapping[str, TransactionOutcome],
) -> bool:
    """Record a version's outcome; return False if no version has one."""
    for version in versions:
        if version.tx_hash in outcomes:
            _record(chain, attempt, version, outcomes[version.tx_hash])
            return True
    return False


def _record(chain: Chain, attempt: DeployAttempt, version: SignedTransaction, outcome: TransactionOutcome) -> None:
    deployment, reason, presale_id = attempt.deployment, "", None
    if deployment is None or version.purpose == TransactionPurpose.CANCEL:
        state = AttemptState.CANCELLED
    elif outcome.succeeded:
        state = AttemptState.MINED
        if is_presale(deployment):
            presale_id = presales.read_started_presale(chain, deployment, tx_hash=outcome.tx_hash)
            if presale_id is None:
                # Another node responded, which is behind.
                return
    else:
        state = AttemptState.REVERTED
        sender, block = attempt.wallet.address, outcome.block_number
        reason = chain.explain_revert(deployment_call(deployment), sender=sender, block=block, gas=deployment.gas)
    with transaction.atomic():
        if deployment is not None:
            Deployment.objects.locked(deployment.pk)
        updated = DeployAttempt.objects.filter(pk=attempt.pk, state=AttemptState.OPEN).update_and_touch(
            state=state,
            reason=reason,
            tx_hash=outcome.tx_hash,
            block_number=outcome.block_number,
            block_hash=outcome.block_hash,
            gas_used=outcome.gas_used,
            gas_price=outcome.gas_price,
            missing_since=None,
        )
        if updated and deployment is not None and state is AttemptState.MINED:
            state_transitions.mark_mined(deployment, tx_hash=outcome.tx_hash, presale_id=presale_id)
    if updated:
        clear_alerts(attempt.wallet, WalletAlert.FEES, WalletAlert.SENDING)
        _log(attempt, f"{state.value} in block {outcome.block_number}: {outcome.tx_hash} {reason}".rstrip())
    if deployment is not None and state is not AttemptState.MINED:
        _settle_failed(chain, deployment, state, reason)


def _settle_failed(chain: Chain, deployment: Deployment, state: AttemptState, reason: str) -> None:
    """Update a failed attempt's deployment. After a crash, `requeue_lost` does this."""
    if DeployAttempt.objects.active(deployment.pk).exists():
        logger.info(
            "chain %s: another attempt of deployment %s is in flight", deployment.chain_id, deployment.request_key
        )
    elif state is AttemptState.CANCELLED:
        state_transitions.requeue_deployment(deployment)
    elif not mark_if_launched(chain, deployment):
        # With the same salt, an earlier attempt or version would have launched the token.
        state_transitions.mark_failed(
            deployment, f"the transaction was reverted: {reason}" if reason else "the transaction was reverted"
        )


def _record_missing(chain: Chain, attempt: DeployAttempt, versions: Sequence[SignedTransaction]) -> bool:
    """Record that the nonce is used without a receipt; return True if the attempt is lost and its deployment queued.

    Every node is queried before that.
    """
    now, still_open = timezone.now(), DeployAttempt.objects.filter(pk=attempt.pk, state=AttemptState.OPEN)
    if attempt.missing_since is None:
        still_open.filter(missing_since__isnull=True).update_and_touch(missing_since=now)
        return False
    if now - attempt.missing_since < timedelta(seconds=MISSING_SECONDS):
        return False
    outcomes = chain.find_outcomes([version.tx_hash for version in versions])
    if _record_any(chain, attempt, versions, outcomes):
        return False
    newest, deployment = chain.read_newest_header(), attempt.deployment
    with transaction.atomic():
        if deployment is not None:
            Deployment.objects.locked(deployment.pk)
        if not still_open.update_and_touch(state=AttemptState.LOST, block_number=newest.number, block_hash=newest.hash):
            return False
        _log(attempt, "lost: another transaction used it", logging.WARNING)
        return deployment is not None and state_transitions.requeue_deployment(deployment)


def _log(attempt: DeployAttempt, what: str, level: int = logging.INFO) -> None:
    wallet, deployment = attempt.wallet, attempt.deployment
    key = deployment.request_key if deployment else "no deployment"
    logger.log(level, "chain %s: nonce %s of %s, for %s: %s", wallet.chain_id, attempt.nonce, wallet.address, key, what)
