"""What the chain says of attempts whose nonce it counts as used: mined, reverted, or somebody else's."""

import logging
from collections.abc import Mapping, Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from tokens.chains.protocols import Chain
from tokens.chains.transaction_types import Account, Outcome
from tokens.deploying.sending import confirm, presales, state_transitions
from tokens.deploying.sending.presales import is_presale
from tokens.deploying.sending.signed_versions import call_of
from tokens.deploying.sending.wallet_alerts import Trouble, settled
from tokens.models import DeployAttempt, Deployment, DeployWallet, SignedTransaction

logger = logging.getLogger(__name__)

State = DeployAttempt.State

# How long a receipt may be on its way while the nonce counts as used: nodes behind one URL are not equally far.
MISSING_SECONDS = 10
# So many attempts are settled at a time.
BATCH = 200


def settle(chain: Chain, wallets: Sequence[DeployWallet], *, accounts: Mapping[str, Account]) -> list[int]:
    """Settle what is in flight of these wallets, as far as their nonces are used.

    Returns the ids of orders that are back in line, because somebody else used their nonce. Raises NodeUnavailable.
    """
    used, unused = Q(), Q()
    for wallet in wallets:
        used |= Q(wallet=wallet, nonce__lt=accounts[wallet.address].nonce)
        unused |= Q(wallet=wallet, nonce__gte=accounts[wallet.address].nonce)
    if not used:
        return []
    in_flight = DeployAttempt.objects.in_flight(chain.info.chain_id)
    # A node was ahead, or a block was dropped: what is missing later is missing from then on.
    in_flight.filter(unused, missing_since__isnull=False).move(missing_since=None)
    open_ones = in_flight.filter(used).order_by("wallet", "nonce")
    attempts = list(open_ones.select_related("deployment", "wallet")[:BATCH])
    signed = _versions(attempts)
    outcomes = chain.read_outcomes([version.tx_hash for versions in signed.values() for version in versions])
    back = []
    for attempt in attempts:
        if not _record_any(chain, attempt, signed[attempt.pk], outcomes) and _miss(chain, attempt, signed[attempt.pk]):
            back += [attempt.deployment_id] if attempt.deployment_id else []
    return back


def put_back_lost(chain: Chain) -> list[int]:
    """Orders that no attempt carries out any more go back in line; their ids. Raises NodeUnavailable."""
    submitted = Deployment.objects.filter(chain_id=chain.info.chain_id, status=Deployment.Status.SUBMITTED)
    idle = submitted.filter(final_at__isnull=True).exclude(tries__state__in=(State.OPEN, State.MINED))
    back = []
    for order in idle.defer("calldata")[:BATCH]:
        last = order.tries.order_by("-pk").first()
        if last is not None and last.state == State.REVERTED:
            # Who noted the revert did not come to say what follows.
            _follow(chain, order, State.REVERTED, last.reason)
        elif not note_done(chain, order) and not _find_again(chain, order) and state_transitions.put_back(order):
            back.append(order.pk)
    return back


def _find_again(chain: Chain, order: Deployment) -> bool:
    """Whether an attempt that counts as lost is in a block after all; then it is in flight again, and settled.

    A presale can't be found by its salt any more when its sale has ended, so that another one would be started.
    """
    lost = DeployAttempt.objects.filter(deployment=order, state=State.LOST).select_related("deployment", "wallet")
    signed = _versions(list(lost))
    outcomes = chain.find_outcomes([version.tx_hash for versions in signed.values() for version in versions])
    found = [one for one in lost if any(version.tx_hash in outcomes for version in signed[one.pk])]
    for attempt in found:
        confirm.reopen(attempt)
    return bool(found)


def note_done(chain: Chain, order: Deployment) -> bool:
    """Whether the order's token is there, or its presale began, whoever did it; then it counts as mined.

    Raises NodeUnavailable.
    """
    if is_presale(order):
        presale_id = presales.find_started(chain, order)
        return presale_id is not None and state_transitions.count_as_mined(order, tx_hash="", presale_id=presale_id)
    # A node that is behind would tell of the time before.
    decided = order.tries.aggregate(newest=Max("block_number"))["newest"] or 0
    return chain.has_code(order.expected_address, since=decided) and state_transitions.count_as_mined(order, tx_hash="")


def _versions(attempts: Sequence[DeployAttempt]) -> dict[int, list[SignedTransaction]]:
    """Attempt -> its versions without their bytes, the newest first."""
    found: dict[int, list[SignedTransaction]] = {attempt.pk: [] for attempt in attempts}
    for version in SignedTransaction.objects.filter(attempt__in=attempts).defer("raw").order_by("-pk"):
        found[version.attempt_id].append(version)
    return found


def _record_any(
    chain: Chain, attempt: DeployAttempt, versions: Sequence[SignedTransaction], outcomes: Mapping[str, Outcome]
) -> bool:
    """Record the outcome of whichever version has one; False where none has."""
    for version in versions:
        if version.tx_hash in outcomes:
            _record(chain, attempt, version, outcomes[version.tx_hash])
            return True
    return False


def _record(chain: Chain, attempt: DeployAttempt, version: SignedTransaction, outcome: Outcome) -> None:
    order, reason, presale_id = attempt.deployment, "", None
    if order is None or version.purpose == SignedTransaction.Purpose.CANCEL:
        state = State.CANCELLED
    elif outcome.succeeded:
        state = State.MINED
        if is_presale(order):
            presale_id = presales.note_started(chain, order, tx_hash=outcome.tx_hash)
            if presale_id is None:
                # Another node answered, which is behind.
                return
    else:
        state = State.REVERTED
        sender, block = attempt.wallet.address, outcome.block_number
        reason = chain.explain(call_of(order), sender=sender, block=block, gas=order.gas)
    with transaction.atomic():
        if order is not None:
            Deployment.objects.locked(order.pk)
        moved = DeployAttempt.objects.filter(pk=attempt.pk, state=State.OPEN).move(
            state=state,
            reason=reason,
            tx_hash=outcome.tx_hash,
            block_number=outcome.block_number,
            block_hash=outcome.block_hash,
            gas_used=outcome.gas_used,
            gas_price=outcome.gas_price,
            missing_since=None,
        )
        if moved and order is not None and state is State.MINED:
            state_transitions.count_as_mined(order, tx_hash=outcome.tx_hash, presale_id=presale_id)
    if moved:
        settled(attempt.wallet, Trouble.FEES, Trouble.SENDING)
        _log(attempt, f"{state.value} in block {outcome.block_number}: {outcome.tx_hash} {reason}".rstrip())
    if order is not None and state is not State.MINED:
        _follow(chain, order, state, reason)


def _follow(chain: Chain, order: Deployment, state: DeployAttempt.State, reason: str) -> None:
    """Say what becomes of an order whose attempt came to nothing. After a crash, `put_back_lost` says it."""
    if DeployAttempt.objects.live(order.pk).exists():
        logger.info("chain %s: another attempt of deployment %s goes on", order.chain_id, order.request_key)
    elif state is State.CANCELLED:
        state_transitions.put_back(order)
    elif not note_done(chain, order):
        # With the same salt an earlier attempt or version would have launched the token.
        state_transitions.fail(
            order, f"the transaction was reverted: {reason}" if reason else "the transaction was reverted"
        )


def _miss(chain: Chain, attempt: DeployAttempt, versions: Sequence[SignedTransaction]) -> bool:
    """Note that the nonce is used and no receipt is there; True where the attempt is lost, and its order back in line.

    Before that, every node is asked.
    """
    now, unmoved = timezone.now(), DeployAttempt.objects.filter(pk=attempt.pk, state=State.OPEN)
    if attempt.missing_since is None:
        unmoved.filter(missing_since__isnull=True).move(missing_since=now)
        return False
    if now - attempt.missing_since < timedelta(seconds=MISSING_SECONDS):
        return False
    outcomes = chain.find_outcomes([version.tx_hash for version in versions])
    if _record_any(chain, attempt, versions, outcomes):
        return False
    newest, order = chain.read_newest(), attempt.deployment
    with transaction.atomic():
        if order is not None:
            Deployment.objects.locked(order.pk)
        if not unmoved.move(state=State.LOST, block_number=newest.number, block_hash=newest.hash):
            return False
        _log(attempt, "lost: another transaction used it", logging.WARNING)
        return order is not None and state_transitions.put_back(order)


def _log(attempt: DeployAttempt, what: str, level: int = logging.INFO) -> None:
    wallet, order = attempt.wallet, attempt.deployment
    key = order.request_key if order else "nothing"
    logger.log(level, "chain %s: nonce %s of %s, for %s: %s", wallet.chain_id, attempt.nonce, wallet.address, key, what)
