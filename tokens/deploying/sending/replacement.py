"""New versions of an attempt with the same nonce: the same call for more, or nothing at all; and gaps that are filled.

Stored before they are sent, as every version. Either version may be mined, so that all of them are watched.
"""

import logging
from collections.abc import Sequence

from django.db import transaction

from tokens.chains.protocols import Chain
from tokens.chains.types import SenderTooPoor, SignerRefused, SignerUnavailable, WouldRevert
from tokens.deploying.sending import confirm, signed_versions
from tokens.deploying.sending.gas import Fees, FeesTooHigh, first_fees, raised_fees, with_reserve
from tokens.deploying.sending.wallet_alerts import Trouble, note, settled
from tokens.models import DeployAttempt, Deployment, DeployWallet, SignedTransaction

logger = logging.getLogger(__name__)

State = DeployAttempt.State


def replace(chain: Chain, attempt: DeployAttempt, *, newest: SignedTransaction) -> SignedTransaction | None:
    """Sign what an attempt has in flight, `newest`, once more, for more; None where cap or signer are against it.

    It is not sent here. Raises NodeUnavailable.
    """
    empty = newest.purpose == SignedTransaction.Purpose.CANCEL
    return _sign_anew(chain, attempt, newest=newest, empty=empty)


def cancel(chain: Chain, attempt: DeployAttempt, *, newest: SignedTransaction | None) -> SignedTransaction | None:
    """Sign an empty transaction in the place of what is not wanted any more, or where nothing is; as `replace`."""
    return _sign_anew(chain, attempt, newest=newest, empty=True)


def fill(chain: Chain, wallet: DeployWallet, nonces: Sequence[int]) -> None:
    """Have these nonces of a wallet used, which nothing in flight uses, and for which later ones wait.

    What was decided of them once and was dropped is in flight again; the others get an empty transaction each.
    Raises NodeUnavailable.
    """
    decided = confirm.by_nonce(wallet.pk, nonces)
    dropped = confirm.find_dropped(chain, decided)
    for attempt in decided:
        # Of a lost one, the block is but that of the moment; the nonce itself says that it is free.
        if attempt.pk in dropped or attempt.state == State.LOST:
            confirm.reopen(attempt)
    known = {attempt.nonce for attempt in decided}
    for nonce in nonces:
        if nonce not in known:
            _open(wallet, nonce)


def _open(wallet: DeployWallet, nonce: int) -> None:
    """An attempt without an order, which then gets its empty transaction as one that has no version."""
    # Whoever is about to commit an attempt with this nonce holds the wallet.
    with transaction.atomic():
        DeployWallet.objects.select_for_update(no_key=True).get(pk=wallet.pk)
        _, created = DeployAttempt.objects.get_or_create(wallet=wallet, nonce=nonce)
    if created:
        logger.warning("chain %s: nobody uses nonce %s of %s: filled", wallet.chain_id, nonce, wallet.address)


def _sign_anew(
    chain: Chain, attempt: DeployAttempt, *, newest: SignedTransaction | None, empty: bool
) -> SignedTransaction | None:
    """Raises NodeUnavailable."""
    wallet, quote = attempt.wallet, chain.read_fees()
    try:
        if newest is None:
            fees = first_fees(wallet.chain_id, quote)
        else:
            over = Fees(max_fee=newest.max_fee, priority_fee=newest.priority_fee)
            fees = raised_fees(wallet.chain_id, quote, over=over)
        gas = _gas_of_nothing(chain, wallet) if empty else None
        version = _sign_under_lock(attempt, newest=newest, fees=fees, gas_of_nothing=gas)
    except FeesTooHigh as error:
        note(wallet.pk, Trouble.FEES, f"nonce {attempt.nonce} waits: {error}")
    except (SignerUnavailable, SignerRefused) as error:
        note(wallet.pk, Trouble.SIGNER, str(error))
    except (SenderTooPoor, WouldRevert) as error:
        note(wallet.pk, Trouble.SENDING, f"nonce {attempt.nonce} waits: {error}")
    else:
        settled(wallet, Trouble.FEES, Trouble.SIGNER)
        return version
    return None


def _sign_under_lock(
    attempt: DeployAttempt, *, newest: SignedTransaction | None, fees: Fees, gas_of_nothing: int | None
) -> SignedTransaction | None:
    """A new version, unless the attempt was decided meanwhile, or somebody else has just made one."""
    with transaction.atomic():
        order = Deployment.objects.locked(attempt.deployment_id) if attempt.deployment_id else None
        rows = DeployAttempt.objects.filter(pk=attempt.pk, state=State.OPEN)
        locked = rows.select_for_update(no_key=True, of=("self",)).first()
        if locked is None or _newest_id(locked) != (newest.pk if newest else None):
            return None
        if order is None or gas_of_nothing is not None:
            return signed_versions.sign(locked, wallet=attempt.wallet, order=None, fees=fees, gas=gas_of_nothing or 0)
        version = signed_versions.sign(locked, wallet=attempt.wallet, order=order, fees=fees, gas=order.gas)
        Deployment.objects.filter(pk=order.pk).move(tx_hash=version.tx_hash)
    return version


def _newest_id(attempt: DeployAttempt) -> int | None:
    return attempt.versions.order_by("-pk").values_list("pk", flat=True).first()


def _gas_of_nothing(chain: Chain, wallet: DeployWallet) -> int:
    """What an empty transaction needs, which is not 21,000 on every chain."""
    return with_reserve(chain.simulate(signed_versions.empty_call(wallet), sender=wallet.address).gas)
