"""What the chain says of attempts whose nonce it counts as used: mined, reverted, or somebody else's."""

import logging
from collections.abc import Mapping, Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from tokens.chains.chain import Chain
from tokens.chains.sending import Account, Outcome
from tokens.deploying import moves
from tokens.deploying.versions import call_of
from tokens.models import DeployAttempt, Deployment, DeployWallet, SignedTransaction

logger = logging.getLogger(__name__)

State = DeployAttempt.State

# How long a receipt may be on its way while the nonce counts as used: nodes behind one URL are not equally far.
MISSING_SECONDS = 10
# So many attempts are settled at a time.
BATCH = 200
# They are large, and nothing here reads them.
_HEAVY = ("deployment__config",)


def settle(chain: Chain, wallets: Sequence[DeployWallet], *, accounts: Mapping[str, Account]) -> list[int]:
    """Settle what is in flight of these wallets, as far as their nonces are used.

    Returns the ids of orders that are back in line, because somebody else used their nonce. Raises NodeUnavailable.
    """
    used = Q()
    for wallet in wallets:
        used |= Q(wallet=wallet, nonce__lt=accounts[wallet.address].nonce)
    if not used:
        return []
    open_ones = DeployAttempt.objects.in_flight(chain.info.chain_id).filter(used).order_by("wallet", "nonce")
    attempts = list(open_ones.select_related("deployment", "wallet").defer(*_HEAVY)[:BATCH])
    signed = _versions(attempts)
    outcomes = chain.read_outcomes([version.tx_hash for versions in signed.values() for version in versions])
    back = []
    for attempt in attempts:
        if not _record_any(chain, attempt, signed[attempt.pk], outcomes) and _miss(chain, attempt, signed[attempt.pk]):
            back += [attempt.deployment_id] if attempt.deployment_id else []
    return back


def lost_for_good(chain_id: int) -> list[int]:
    """Orders that no attempt carries out any more go back in line; their ids."""
    idle = Deployment.objects.filter(chain_id=chain_id, status=Deployment.Status.SUBMITTED, final_at__isnull=True)
    idle = idle.exclude(tries__state__in=(State.OPEN, State.MINED))
    return [order.pk for order in idle.defer("config", "calldata")[:BATCH] if moves.put_back(order)]


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
    order, reason, is_there = attempt.deployment, "", False
    if version.purpose == SignedTransaction.Purpose.CANCEL:
        state = State.CANCELLED
    elif outcome.succeeded:
        state = State.MINED
    else:
        state = State.REVERTED
        if order is not None:
            reason = chain.explain(call_of(order), sender=attempt.wallet.address, block=outcome.block_number)
            is_there = bool(order.expected_address) and chain.has_code(order.expected_address)
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
        if moved:
            _log(attempt, f"{state.value} in block {outcome.block_number}: {outcome.tx_hash} {reason}".rstrip())
            if order is not None:
                _follow(order, state, tx_hash=outcome.tx_hash, reason=reason, is_there=is_there)


def _follow(order: Deployment, state: DeployAttempt.State, *, tx_hash: str, reason: str, is_there: bool) -> None:
    """Move the order, which is locked, as its attempt went."""
    if state is State.MINED:
        moves.count_as_mined(order, tx_hash=tx_hash)
    elif state is State.CANCELLED:
        moves.put_back(order)
    elif DeployAttempt.objects.live(order.pk).exists():
        logger.info("chain %s: another attempt of deployment %s goes on", order.chain_id, order.request_key)
    elif is_there:
        # The same salt: an earlier attempt or version of it launched the token.
        moves.count_as_mined(order, tx_hash="")
    else:
        moves.fail(order, f"the transaction was reverted: {reason}" if reason else "the transaction was reverted")
        Deployment.objects.filter(pk=order.pk, status=Deployment.Status.FAILED).move(tx_hash=tx_hash)


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
        return order is not None and moves.put_back(order)


def _log(attempt: DeployAttempt, what: str, level: int = logging.INFO) -> None:
    wallet, order = attempt.wallet, attempt.deployment
    key = order.request_key if order else "nothing"
    logger.log(level, "chain %s: nonce %s of %s, for %s: %s", wallet.chain_id, attempt.nonce, wallet.address, key, what)
