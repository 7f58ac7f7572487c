"""Replacement transactions for an attempt, with the same nonce: fee bumps and cancellations; and filled nonce gaps.

Each version is stored before it is broadcast. Any version may be mined, so that all are watched.
"""

import logging
from collections.abc import Sequence

from django.db import transaction

from tokens.chains.errors import SenderBalanceTooLowError, SignerRejectedError, SignerUnavailableError, WouldRevertError
from tokens.chains.evm.evm_chain import Chain
from tokens.deploying.sending import confirm, signed_versions
from tokens.deploying.sending.gas import FeeCapExceededError, GasFees, add_gas_reserve, bumped_fees, initial_fees
from tokens.deploying.sending.wallet_alerts import clear_alerts, report_tip, set_alert
from tokens.models import (
    AttemptState,
    DeployAttempt,
    Deployment,
    DeployWallet,
    SignedTransaction,
    TransactionPurpose,
    WalletAlert,
)

logger = logging.getLogger(__name__)


def bump_fees(chain: Chain, attempt: DeployAttempt, *, newest: SignedTransaction) -> SignedTransaction | None:
    """Sign the newest version again with higher fees; return None if cap or signer prevent it.

    It is not broadcast here. Raises NodeUnavailableError.
    """
    empty = newest.purpose == TransactionPurpose.CANCEL
    return _sign_anew(chain, attempt, newest=newest, empty=empty)


def cancel_attempt(
    chain: Chain, attempt: DeployAttempt, *, newest: SignedTransaction | None
) -> SignedTransaction | None:
    """Sign an empty transaction for a nonce whose attempt is no longer needed or has no version; as `bump_fees`."""
    return _sign_anew(chain, attempt, newest=newest, empty=True)


def fill_nonce_gaps(chain: Chain, wallet: DeployWallet, nonces: Sequence[int]) -> None:
    """Use up a wallet's nonces that no open attempt has, and that block later nonces.

    Decided attempts that were orphaned are reopened; every other nonce gets an empty transaction. Raises
    NodeUnavailableError.
    """
    decided = confirm.decided_attempts(wallet.pk, nonces)
    dropped = confirm.find_orphaned(chain, decided)
    for attempt in decided:
        # A lost attempt's block is only the newest one at that time; the free nonce itself is the proof.
        if attempt.pk in dropped or attempt.state == AttemptState.LOST:
            confirm.reopen_attempt(attempt)
    decided_nonces = {attempt.nonce for attempt in decided}
    for nonce in nonces:
        if nonce not in decided_nonces:
            _open(wallet, nonce)


def _open(wallet: DeployWallet, nonce: int) -> None:
    """Create an attempt without a deployment, which then gets an empty transaction."""
    # A process that is about to commit an attempt with this nonce holds the wallet's lock.
    with transaction.atomic():
        DeployWallet.objects.select_for_update(no_key=True).get(pk=wallet.pk)
        _, created = DeployAttempt.objects.get_or_create(wallet=wallet, nonce=nonce)
    if created:
        logger.warning("chain %s: nonce %s of %s is unused: filled", wallet.chain_id, nonce, wallet.address)


def _sign_anew(
    chain: Chain, attempt: DeployAttempt, *, newest: SignedTransaction | None, empty: bool
) -> SignedTransaction | None:
    """Sign a version with current or bumped fees; return None and set an alert if that fails.

    Raises NodeUnavailableError.
    """
    wallet, quote = attempt.wallet, chain.read_fees()
    report_tip([wallet], quote.alarm)
    try:
        if newest is None:
            fees = initial_fees(wallet.chain_id, quote)
        else:
            over = GasFees(max_fee=newest.max_fee, priority_fee=newest.priority_fee)
            fees = bumped_fees(wallet.chain_id, quote, over=over)
        gas = _empty_call_gas(chain, wallet) if empty else None
        version = _sign_under_lock(attempt, newest=newest, fees=fees, empty_call_gas=gas)
    except FeeCapExceededError as error:
        set_alert(wallet.pk, WalletAlert.FEES, f"nonce {attempt.nonce} waits: {error}")
    except (SignerUnavailableError, SignerRejectedError) as error:
        set_alert(wallet.pk, WalletAlert.SIGNER, str(error))
    except (SenderBalanceTooLowError, WouldRevertError) as error:
        set_alert(wallet.pk, WalletAlert.SENDING, f"nonce {attempt.nonce} waits: {error}")
    else:
        clear_alerts(wallet, WalletAlert.FEES, WalletAlert.SIGNER)
        return version
    return None


def _sign_under_lock(
    attempt: DeployAttempt, *, newest: SignedTransaction | None, fees: GasFees, empty_call_gas: int | None
) -> SignedTransaction | None:
    """Sign a new version, unless the attempt was decided or another process has just added a version."""
    with transaction.atomic():
        deployment = Deployment.objects.locked(attempt.deployment_id) if attempt.deployment_id else None
        rows = DeployAttempt.objects.filter(pk=attempt.pk, state=AttemptState.OPEN)
        locked = rows.select_for_update(no_key=True, of=("self",)).first()
        if locked is None or _newest_id(locked) != (newest.pk if newest else None):
            return None
        if deployment is None or empty_call_gas is not None:
            return signed_versions.sign_version(
                locked, wallet=attempt.wallet, deployment=None, fees=fees, gas=empty_call_gas or 0
            )
        version = signed_versions.sign_version(
            locked, wallet=attempt.wallet, deployment=deployment, fees=fees, gas=deployment.gas
        )
        Deployment.objects.filter(pk=deployment.pk).update_and_touch(tx_hash=version.tx_hash)
    return version


def _newest_id(attempt: DeployAttempt) -> int | None:
    return attempt.versions.order_by("-pk").values_list("pk", flat=True).first()


def _empty_call_gas(chain: Chain, wallet: DeployWallet) -> int:
    """Return an empty transaction's gas limit, which is not 21,000 on every chain."""
    return add_gas_reserve(chain.simulate(signed_versions.empty_call(wallet), sender=wallet.address).gas)
