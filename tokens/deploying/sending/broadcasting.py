"""Handing stored bytes to the nodes, and what follows from their words: little, for it is the chain that counts."""

import logging
from collections.abc import Sequence

from django.utils import timezone

from tokens.chains.protocols import Chain
from tokens.chains.transaction_types import Sent, Verdict
from tokens.deploying.sending import state_transitions
from tokens.deploying.sending.wallet_alerts import Trouble, note, settled
from tokens.models import SignedTransaction

logger = logging.getLogger(__name__)

# The transaction waits at a node.
_THERE = (Verdict.TAKEN, Verdict.KNOWN)
# An operator can do something about it.
_TROUBLES = (Verdict.TOO_POOR, Verdict.UNDERPRICED, Verdict.FEE_TOO_LOW)


def send(chain: Chain, versions: Sequence[SignedTransaction]) -> None:
    """Send versions, each of which is committed; twice is as good as once.

    What a node refuses for good, and none takes or may take later, fails its order here. All else is found out by
    looking at the chain.
    """
    if not versions:
        return
    answers = chain.broadcast([bytes(version.raw) for version in versions])
    for version, sent in zip(versions, answers, strict=True):
        words = "" if sent.verdict in _THERE else f"{sent.verdict.value}: {sent.words}"
        SignedTransaction.objects.filter(pk=version.pk).update(sent_at=timezone.now(), answer=words)
        if words and words != version.answer and sent.verdict is not Verdict.NONCE_SPENT:
            logger.warning("chain %s: %s is not taken: %s", chain.info.chain_id, version.tx_hash, words)
        _conclude(version, sent)


def _conclude(version: SignedTransaction, sent: Sent) -> None:
    attempt = version.attempt
    if sent.verdict in _THERE:
        settled(attempt.wallet, Trouble.SENDING)
    elif sent.verdict in _TROUBLES:
        note(attempt.wallet_id, Trouble.SENDING, f"nonce {attempt.nonce} is {sent.verdict.value}: {sent.words}")
    elif sent.verdict is Verdict.REFUSED:
        # Its nonce is then filled by an empty transaction, as that of anything that is not wanted any more.
        if version.purpose == SignedTransaction.Purpose.CANCEL:
            note(attempt.wallet_id, Trouble.SENDING, f"nonce {attempt.nonce} can't be filled: {sent.words}")
        elif attempt.deployment is not None:
            state_transitions.fail(attempt.deployment, f"the chain's nodes refuse the transaction: {sent.words}")
