"""The line of a wallet: its nonces from the chain's next one on, of which only the first can be mined.

Where none of ours is at a nonce, an empty transaction fills it; what nobody wants any more becomes empty; what no block
takes pays more; and what nodes may have forgotten is handed to them again.
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

from tokens.chains.protocols import Chain
from tokens.chains.transaction_types import Verdict
from tokens.deploying.sending import broadcasting, replacement
from tokens.models import DeployAttempt, Deployment, DeployWallet, SignedTransaction

logger = logging.getLogger(__name__)

State = DeployAttempt.State

# Nodes keep so many transactions of one sender, and the first ones are all that matters.
FRONT = 16
# How often those are handed to the nodes.
RESEND_SECONDS = 5
# For which orders an attempt in flight is needed.
_WANTED = (Deployment.Status.SUBMITTED, Deployment.Status.ENQUEUED)


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """An attempt in its wallet's line, with its newest version; None where that was never stored."""

    attempt: DeployAttempt
    version: SignedTransaction | None
    # Whether a newer attempt carries out the same order.
    outdated: bool


def tend(chain: Chain, wallet: DeployWallet, *, count: int) -> None:
    """Look after the front of a wallet's line; `count` is the chain's next nonce. Raises NodeUnavailable."""
    line = _front(wallet, count)
    if not line:
        return
    taken = {place.attempt.nonce for place in line}
    # There may be millions of them, where a node told of a nonce that is none.
    gaps = list(islice((nonce for nonce in range(count, line[-1].attempt.nonce) if nonce not in taken), FRONT))
    if gaps:
        replacement.fill(chain, wallet, gaps)
        line = _front(wallet, count)
    for place in line:
        if not _is_wanted(place) and not replacement.cancel(chain, place.attempt, newest=place.version):
            # Each of the others would wait as long for a signer that hangs, and so would other wallets.
            break
    else:
        _push(chain, [place for place in line if _is_wanted(place)], count=count)
    resend(chain, wallet, count=count)


def resend(chain: Chain, wallet: DeployWallet, *, count: int) -> None:
    """Hand the newest versions of the front to the nodes, those that were not sent for some seconds."""
    newest = [place.version for place in _front(wallet, count) if place.version]
    wanted = Q(pk__in=[version.pk for version in newest]) | _cheaper(newest)
    due = Q(sent_at__isnull=True) | Q(sent_at__lt=timezone.now() - timedelta(seconds=RESEND_SECONDS))
    known = SignedTransaction.objects.filter(wanted, due).select_related("attempt__wallet", "attempt__deployment")
    light = known.defer("attempt__deployment__config", "attempt__deployment__calldata")
    broadcasting.send(chain, list(light.order_by("pk")))


def _cheaper(versions: Sequence[SignedTransaction]) -> Q:
    """What those took the place of that the wallet can't pay for: it may be mined after all, once fees have fallen."""
    before = [
        Q(attempt=version.attempt_id, purpose=version.purpose, pk__lt=version.pk)
        for version in versions
        if version.answer.startswith(Verdict.TOO_POOR.value)
    ]
    return reduce(or_, before, Q(pk__in=()))


def _front(wallet: DeployWallet, count: int) -> list[Place]:
    """The first attempts of the line, in the order of their nonces."""
    line = DeployAttempt.objects.filter(wallet=wallet, nonce__gte=count, state=State.OPEN, final_at__isnull=True)
    attempts = list(
        line.select_related("deployment", "wallet")
        .defer("deployment__config", "deployment__calldata")
        .order_by("nonce")[:FRONT]
    )
    newest = SignedTransaction.objects.filter(attempt__in=attempts).values("attempt").annotate(last=Max("pk"))
    versions = SignedTransaction.objects.filter(pk__in=newest.values("last")).defer("raw")
    by_attempt = {version.attempt_id: version for version in versions}
    live = DeployAttempt.objects.live(*(attempt.deployment_id for attempt in attempts if attempt.deployment_id))
    latest = dict(live.values("deployment").annotate(last=Max("pk")).values_list("deployment", "last"))
    return [
        Place(
            attempt=attempt,
            version=by_attempt.get(attempt.pk),
            outdated=latest.get(attempt.deployment_id or 0, 0) > attempt.pk,
        )
        for attempt in attempts
    ]


def _is_wanted(place: Place) -> bool:
    """Whether what would be mined is what should be: an empty transaction where no order is, the order where one is."""
    order = place.attempt.deployment
    if place.version is not None and place.version.purpose == SignedTransaction.Purpose.CANCEL:
        return True
    if order is None or order.status not in _WANTED:
        return False
    # One that was lost, and came back by a reorg when the order already had another one, is outdated.
    return not place.outdated


def _push(chain: Chain, line: Sequence[Place], *, count: int) -> None:
    """Have the first of the line pay more, where blocks came and did not take it for as long as they may.

    Then those behind it, too, whom no block can take at what they offer: each would wait as long in its turn.
    """
    if not line or line[0].attempt.nonce != count or not _is_stuck(chain, line[0]):
        return
    if not _replace(chain, line[0]):
        return
    base_fee = chain.read_fees().base_fee
    for place in line[1:]:
        if place.version is not None and place.version.max_fee < base_fee and not _replace(chain, place):
            return


def _replace(chain: Chain, place: Place) -> bool:
    return place.version is not None and replacement.replace(chain, place.attempt, newest=place.version) is not None


def _is_stuck(chain: Chain, first: Place) -> bool:
    # Paying more does not help where there is too little to pay with.
    if first.version is None or first.version.answer.startswith(Verdict.TOO_POOR.value):
        return False
    since = _at_front_since(first.attempt, first.version)
    if timezone.now() - since < timedelta(seconds=settings.DEPLOY_STUCK_SECONDS):
        return False
    # While a chain makes no blocks, paying more helps nobody.
    return chain.read_newest().time >= since.timestamp()


def _at_front_since(attempt: DeployAttempt, version: SignedTransaction) -> datetime:
    """When the version was signed, or what was before it in the line was mined, if that was later."""
    before = DeployAttempt.objects.filter(wallet=attempt.wallet_id, nonce=attempt.nonce - 1).exclude(state=State.OPEN)
    times: Sequence[datetime] = list(before.values_list("updated_at", flat=True))
    return max([version.signed_at, *times])
