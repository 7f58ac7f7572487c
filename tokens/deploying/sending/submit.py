"""From an order that waits to bytes that are signed, stored and then sent.

A crash before the one commit leaves the order as it was; after it, the watcher sends the stored bytes.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from config.http.json_client import Permanent, Retryable
from tokens.chains.protocols import Chain
from tokens.chains.transaction_types import Account
from tokens.chains.types import NodeUnavailable, SenderTooPoor, SignerRefused, SignerUnavailable, WouldRevert
from tokens.deploying.sending import broadcasting, nonce_allocation, settle, signed_versions, state_transitions
from tokens.deploying.sending.gas import Fees, FeesTooHigh, first_fees, with_reserve
from tokens.deploying.sending.presales import is_not_ours_to_start, is_presale
from tokens.deploying.sending.wallet_alerts import Trouble, note, settled
from tokens.deploying.sending.wallets import is_any_switched_off, is_paused
from tokens.installation.installed_chains import installed_chain
from tokens.installation.installed_signers import installed_signer
from tokens.models import DeployAttempt, Deployment, DeployWallet, SignedTransaction

logger = logging.getLogger(__name__)

# An order that waited for longer is simulated again before it is signed.
FRESH_SECONDS = 60
# Whatever waits for longer than this has lost its message.
MESSAGE_SECONDS = 2
# How long an order waits for a wallet while all of them are held by others' signers; the sweeper takes it up again.
PATIENCE_SECONDS = 5
# One of so many orders goes to a wallet though that is in trouble.
CHANCE_FOR_TROUBLED = 8
# A sweep takes on so many orders at a time.
BATCH = 200


class Hindered(Retryable):
    """The order can't be signed now, and waits on; the text is for the partner.

    `chain_wide` says that no other order of the chain could be signed either.
    """

    def __init__(self, words: str, *, chain_wide: bool) -> None:
        super().__init__(words)
        self.chain_wide = chain_wide


class TooDear(Hindered):
    """No wallet can pay for the order besides what it has in flight; at most `affordable` wei are there for one."""

    def __init__(self, affordable: int) -> None:
        super().__init__(state_transitions.NO_FUNDS, chain_wide=False)
        self.affordable = affordable


def submit(deployment_id: int) -> bool:
    """Sign and send an order that waits; False where it doesn't, or somebody else is at it, or it comes to nothing.

    Raises Hindered, and then tells the partner.
    """
    order = Deployment.objects.filter(pk=deployment_id, status=Deployment.Status.ENQUEUED).first()
    if order is None:
        return False
    try:
        return _submit(order)
    except Hindered as hindered:
        state_transitions.say(order, str(hindered))
        raise


def submit_waiting(chain_id: int) -> int:
    """Submit what waits on a chain and has lost its message, oldest first; how many were signed.

    Raises Hindered where none can be.
    """
    lost = Deployment.objects.waiting(chain_id).filter(
        updated_at__lt=timezone.now() - timedelta(seconds=MESSAGE_SECONDS)
    )
    signed, last = 0, 0
    for _ in range(BATCH):
        found = lost.filter(pk__gt=last).values_list("pk", flat=True).first()
        if found is None:
            break
        last = found
        try:
            signed += submit(last)
        except TooDear as dear:
            # However many there are, those behind them that can be paid for have their turn.
            lost = lost.filter(value__lt=dear.affordable)
        except Hindered as hindered:
            if hindered.chain_wide:
                raise
    return signed


def chains_with_waiting() -> list[int]:
    """The chains that have orders to be signed."""
    waiting = Deployment.objects.filter(status=Deployment.Status.ENQUEUED)
    return sorted(waiting.values_list("chain_id", flat=True).distinct())


def _submit(order: Deployment) -> bool:
    if is_paused(order.chain_id):
        raise Hindered(state_transitions.PAUSED, chain_wide=True)
    # Now and then one in trouble gets a chance, lest it is over and nobody knows.
    wallets = nonce_allocation.candidates(order.chain_id, troubled_last=order.pk % CHANCE_FOR_TROUBLED != 0)
    if not wallets:
        raise Hindered(state_transitions.NO_WALLET, chain_wide=True)
    # Opened once per process, which takes a while with key files: no lock is to wait for it.
    installed_signer(order.chain_id)
    try:
        chain = installed_chain(order.chain_id)
        fees = first_fees(order.chain_id, chain.read_fees())
        accounts = chain.read_accounts([wallet.address for wallet in wallets])
        wallets = _who_may(order, chain, wallets, accounts=accounts)
    except FeesTooHigh as error:
        for wallet in wallets:
            note(wallet.pk, Trouble.FEES, str(error))
        raise Hindered(state_transitions.FEES, chain_wide=True) from error
    except SenderTooPoor as error:
        raise TooDear(max(account.balance for account in accounts.values())) from error
    except (NodeUnavailable, Permanent) as error:
        logger.warning("chain %s: can't prepare a deployment: %s", order.chain_id, error)
        raise Hindered(state_transitions.NO_NODE, chain_wide=True) from error
    version = _sign_with_any(order, wallets, accounts=accounts, fees=fees) if wallets else None
    if version is None:
        return False
    broadcasting.send(chain, [version])
    return True


def _is_fresh(order: Deployment) -> bool:
    """Whether the order was simulated just now, and nothing of it was ever sent."""
    return not order.attempts and timezone.now() - order.created_at < timedelta(seconds=FRESH_SECONDS)


def _who_may(
    order: Deployment, chain: Chain, wallets: list[DeployWallet], *, accounts: Mapping[str, Account]
) -> list[DeployWallet]:
    """The wallets whose call would work; none where the order comes to nothing, or its token is there already.

    What waited, or was tried before, is looked at again, which costs no gas. Anybody may launch, but not every wallet
    may start presales. Raises Hindered, SenderTooPoor, NodeUnavailable.
    """
    fresh, presale = _is_fresh(order), is_presale(order)
    if fresh and not presale:
        return wallets
    if not fresh and settle.note_done(chain, order):
        return []
    able, refusal = [], None
    # Only a wallet that has the value of the call can try it.
    richest = max(wallets, key=lambda wallet: accounts[wallet.address].balance)
    for wallet in wallets if presale else [richest]:
        try:
            simulation = chain.simulate(signed_versions.call_of(order), sender=wallet.address)
        except WouldRevert as error:
            refusal = error
        else:
            able.append(wallet)
            # What ran out of gas once would do so again.
            order.gas = max(order.gas, with_reserve(simulation.gas))
    if refusal is not None and not able:
        if presale and is_not_ours_to_start(refusal) and is_any_switched_off(order.chain_id):
            # It was a wallet's when the order was taken, which may be one that is to be switched on again.
            raise Hindered(state_transitions.NO_WALLET, chain_wide=False)
        state_transitions.fail(order, refusal.reason)
    return wallets if able and not presale else able


def _sign_with_any(
    order: Deployment, wallets: Sequence[DeployWallet], *, accounts: Mapping[str, Account], fees: Fees
) -> SignedTransaction | None:
    """A stored version of the order by the first wallet that can; None where somebody else took the order.

    Only when every wallet is held is one of them waited for. Raises Hindered.
    """
    affordable: int | None = None
    refused, wait, deadline = False, False, time.monotonic() + PATIENCE_SECONDS
    while wallets and time.monotonic() < deadline:
        busy = []
        for wallet in wallets:
            try:
                return _sign_with(wallet, order, accounts=accounts, fees=fees, wait=wait)
            except nonce_allocation.WalletBusy:
                busy.append(wallet)
            except nonce_allocation.WalletPoor as error:
                affordable = max(affordable or 0, nonce_allocation.cost_of(order, max_fee=fees.max_fee) - error.lacks)
                note(wallet.pk, Trouble.SENDING, f"it lacks {error.lacks} wei for a deployment that waits")
            except (SignerUnavailable, SignerRefused) as error:
                # It may sign another order: some have rules of their own.
                refused = refused or isinstance(error, SignerRefused)
                note(wallet.pk, Trouble.SIGNER, str(error))
        wallets, wait = busy, True
    if wallets:
        raise Hindered(state_transitions.BUSY, chain_wide=True)
    if affordable is not None:
        raise TooDear(affordable)
    raise Hindered(state_transitions.NO_WALLET, chain_wide=not refused)


def _sign_with(
    wallet: DeployWallet, order: Deployment, *, accounts: Mapping[str, Account], fees: Fees, wait: bool
) -> SignedTransaction | None:
    """Nonce, attempt, signature, bytes and status in one database transaction; None where the order is taken.

    Raises WalletBusy, WalletPoor, SignerUnavailable, SignerRefused.
    """
    mine = Deployment.objects.filter(pk=order.pk, status=Deployment.Status.ENQUEUED, attempts=order.attempts)
    with transaction.atomic():
        if mine.select_for_update(no_key=True, skip_locked=True, of=("self",)).first() is None:
            return None
        cost = nonce_allocation.cost_of(order, max_fee=fees.max_fee)
        nonce = nonce_allocation.take(wallet, accounts=accounts, cost=cost, wait=wait)
        attempt = DeployAttempt.objects.create(deployment=order, wallet=wallet, nonce=nonce)
        version = signed_versions.sign(attempt, wallet=wallet, order=order, fees=fees, gas=order.gas)
        mine.move(
            status=Deployment.Status.SUBMITTED,
            attempts=order.attempts + 1,
            tx_hash=version.tx_hash,
            gas=order.gas,
            error="",
            final_at=None,
        )
    settled(wallet, Trouble.SIGNER, Trouble.FEES)
    return version
