"""Queued deployment submission: sign, store the bytes, then broadcast.

A crash before the one commit leaves the deployment queued; after it, the watcher broadcasts the stored bytes.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from config.http.errors import PermanentError, RetryableError
from tokens.chains.errors import (
    NodeUnavailableError,
    SenderBalanceTooLowError,
    SignerRejectedError,
    SignerUnavailableError,
    WouldRevertError,
)
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.transaction_types import AccountState
from tokens.deploying.sending import broadcasting, nonce_allocation, settle, signed_versions, state_transitions
from tokens.deploying.sending.gas import FeeCapExceededError, GasFees, add_gas_reserve, initial_fees
from tokens.deploying.sending.pause_flags import is_paused
from tokens.deploying.sending.presales import is_presale, is_unauthorized
from tokens.deploying.sending.wallet_alerts import clear_alerts, report_tip, set_alert
from tokens.deploying.sending.wallets import has_disabled_wallet
from tokens.installation.installed_chains import installed_chain
from tokens.installation.installed_signers import installed_signers
from tokens.models import DeployAttempt, Deployment, DeploymentStatus, DeployWallet, SignedTransaction, WalletAlert

logger = logging.getLogger(__name__)

# A deployment that was queued for longer is simulated again before it is signed.
FRESH_SECONDS = 60
# After this time its task message counts as lost.
MESSAGE_SECONDS = 2
# Timeout for a wallet while other signers hold all wallets; the sweeper retries.
WALLET_TIMEOUT_SECONDS = 5
# One in this many deployments tries wallets with an alert first.
TROUBLED_WALLET_INTERVAL = 8
# Deployments per sweep.
BATCH = 200


class SubmissionDeferredError(RetryableError):
    """Raised when a deployment can't be signed now and stays queued; the text is for the partner.

    `chain_wide` means that no other deployment on the chain could be signed either.
    """

    def __init__(self, message: str, *, chain_wide: bool) -> None:
        super().__init__(message)
        self.chain_wide = chain_wide


class InsufficientFundsError(SubmissionDeferredError):
    """Raised when no wallet can fund the deployment besides its in-flight ones; `affordable` is in wei."""

    def __init__(self, affordable: int) -> None:
        super().__init__(state_transitions.NO_FUNDS, chain_wide=False)
        self.affordable = affordable


def submit_deployment(deployment_id: int) -> bool:
    """Sign and broadcast a queued deployment; return False if it is not queued, locked, or fails.

    Raises SubmissionDeferredError, after its text is stored for the partner.
    """
    deployment = Deployment.objects.filter(pk=deployment_id, status=DeploymentStatus.ENQUEUED).first()
    if deployment is None:
        return False
    try:
        return _submit(deployment)
    except SubmissionDeferredError as deferred:
        state_transitions.record_wait_reason(deployment, str(deferred))
        raise


def submit_unsent(chain_id: int) -> int:
    """Submit a chain's queued deployments after their task message was lost, oldest first; return how many were signed.

    Raises SubmissionDeferredError if none can be signed.
    """
    lost = Deployment.objects.enqueued(chain_id).filter(
        updated_at__lt=timezone.now() - timedelta(seconds=MESSAGE_SECONDS)
    )
    signed, last = 0, 0
    for _ in range(BATCH):
        deployment_id = lost.filter(pk__gt=last).values_list("pk", flat=True).first()
        if deployment_id is None:
            break
        last = deployment_id
        try:
            signed += submit_deployment(last)
        except InsufficientFundsError as underfunded:
            # They don't block later deployments that can be funded.
            lost = lost.filter(value__lt=underfunded.affordable)
        except SubmissionDeferredError as deferred:
            if deferred.chain_wide:
                raise
    return signed


def chains_with_unsent() -> list[int]:
    """Return the chains that have queued deployments."""
    waiting = Deployment.objects.filter(status=DeploymentStatus.ENQUEUED)
    return sorted(waiting.values_list("chain_id", flat=True).distinct())


def _submit(deployment: Deployment) -> bool:
    if is_paused(deployment.chain_id):
        raise SubmissionDeferredError(state_transitions.PAUSED, chain_wide=True)
    # A wallet with an alert is tried now and then, to detect that its cause is gone.
    wallets = nonce_allocation.candidate_wallets(
        deployment.chain_id, troubled_last=deployment.pk % TROUBLED_WALLET_INTERVAL != 0
    )
    if not wallets:
        raise SubmissionDeferredError(state_transitions.NO_WALLET, chain_wide=True)
    # Opened once per process, which takes time with key files: no lock may be held meanwhile.
    installed_signers(deployment.chain_id)
    try:
        chain = installed_chain(deployment.chain_id)
        quote = chain.read_fees()
        report_tip(wallets, quote.alarm)
        fees = initial_fees(deployment.chain_id, quote)
        accounts = chain.read_accounts([wallet.address for wallet in wallets])
        wallets = _able_wallets(deployment, chain, wallets, accounts=accounts)
    except FeeCapExceededError as error:
        for wallet in wallets:
            set_alert(wallet.pk, WalletAlert.FEES, str(error))
        raise SubmissionDeferredError(state_transitions.FEES, chain_wide=True) from error
    except SenderBalanceTooLowError as error:
        raise InsufficientFundsError(max(account.balance for account in accounts.values())) from error
    except (NodeUnavailableError, PermanentError) as error:
        logger.warning("chain %s: can't prepare a deployment: %s", deployment.chain_id, error)
        raise SubmissionDeferredError(state_transitions.NO_NODE, chain_wide=True) from error
    version = _sign_with_any(deployment, wallets, accounts=accounts, fees=fees) if wallets else None
    if version is None:
        return False
    broadcasting.broadcast_versions(chain, [version])
    return True


def _is_fresh(deployment: Deployment) -> bool:
    """Return whether the deployment was simulated just now, and never sent."""
    return not deployment.attempts and timezone.now() - deployment.created_at < timedelta(seconds=FRESH_SECONDS)


def _able_wallets(
    deployment: Deployment, chain: Chain, wallets: list[DeployWallet], *, accounts: Mapping[str, AccountState]
) -> list[DeployWallet]:
    """Return the wallets that can send the call; none if the deployment fails, or its token exists already.

    A deployment that was queued for long or tried before is simulated again, which costs no gas. Any wallet may launch,
    but not every wallet may start presales. Raises SubmissionDeferredError, SenderBalanceTooLowError,
    NodeUnavailableError.
    """
    fresh, presale = _is_fresh(deployment), is_presale(deployment)
    if fresh and not presale:
        return wallets
    if not fresh and settle.mark_if_launched(chain, deployment):
        return []
    able, rejection = [], None
    # The simulation needs a wallet that has the call's value.
    richest = max(wallets, key=lambda wallet: accounts[wallet.address].balance)
    for wallet in wallets if presale else [richest]:
        try:
            simulation = chain.simulate(signed_versions.deployment_call(deployment), sender=wallet.address)
        except WouldRevertError as error:
            rejection = error
        else:
            able.append(wallet)
            # A call that ran out of gas would do so again.
            deployment.gas = max(deployment.gas, add_gas_reserve(simulation.gas))
    if rejection is not None and not able:
        if presale and is_unauthorized(rejection) and has_disabled_wallet(deployment.chain_id):
            # A wallet was authorized when the deployment was accepted, and may be enabled again.
            raise SubmissionDeferredError(state_transitions.NO_WALLET, chain_wide=False)
        state_transitions.mark_failed(deployment, rejection.reason)
    return wallets if able and not presale else able


def _sign_with_any(
    deployment: Deployment, wallets: Sequence[DeployWallet], *, accounts: Mapping[str, AccountState], fees: GasFees
) -> SignedTransaction | None:
    """Return a stored version, signed by the first wallet that can; None if another process has the deployment.

    It blocks on a wallet only when all are locked. Raises SubmissionDeferredError.
    """
    affordable: int | None = None
    refused, wait, deadline = False, False, time.monotonic() + WALLET_TIMEOUT_SECONDS
    while wallets and time.monotonic() < deadline:
        busy = []
        for wallet in wallets:
            try:
                return _sign_with(wallet, deployment, accounts=accounts, fees=fees, wait=wait)
            except nonce_allocation.WalletLockedError:
                busy.append(wallet)
            except nonce_allocation.InsufficientBalanceError as error:
                affordable = max(
                    affordable or 0, nonce_allocation.max_cost(deployment, max_fee=fees.max_fee) - error.shortfall
                )
                set_alert(wallet.pk, WalletAlert.SENDING, f"it lacks {error.shortfall} wei for a queued deployment")
            except (SignerUnavailableError, SignerRejectedError) as error:
                # The signer may accept another deployment: some signers have their own rules.
                refused = refused or isinstance(error, SignerRejectedError)
                set_alert(wallet.pk, WalletAlert.SIGNER, str(error))
        wallets, wait = busy, True
    if wallets:
        raise SubmissionDeferredError(state_transitions.BUSY, chain_wide=True)
    if affordable is not None:
        raise InsufficientFundsError(affordable)
    raise SubmissionDeferredError(state_transitions.NO_WALLET, chain_wide=not refused)


def _sign_with(
    wallet: DeployWallet, deployment: Deployment, *, accounts: Mapping[str, AccountState], fees: GasFees, wait: bool
) -> SignedTransaction | None:
    """Store nonce, attempt, signed bytes and status in one database transaction; return None if it is locked.

    Raises WalletLockedError, InsufficientBalanceError, SignerUnavailableError, SignerRejectedError.
    """
    claimed = Deployment.objects.filter(
        pk=deployment.pk, status=DeploymentStatus.ENQUEUED, attempts=deployment.attempts
    )
    with transaction.atomic():
        if claimed.select_for_update(no_key=True, skip_locked=True, of=("self",)).first() is None:
            return None
        cost = nonce_allocation.max_cost(deployment, max_fee=fees.max_fee)
        nonce = nonce_allocation.allocate_nonce(wallet, accounts=accounts, cost=cost, wait=wait)
        attempt = DeployAttempt.objects.create(deployment=deployment, wallet=wallet, nonce=nonce)
        version = signed_versions.sign_version(
            attempt, wallet=wallet, deployment=deployment, fees=fees, gas=deployment.gas
        )
        claimed.update_and_touch(
            status=DeploymentStatus.SUBMITTED,
            attempts=deployment.attempts + 1,
            tx_hash=version.tx_hash,
            gas=deployment.gas,
            error="",
            final_at=None,
        )
    clear_alerts(wallet, WalletAlert.SIGNER, WalletAlert.FEES)
    return version
