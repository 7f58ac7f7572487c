"""Broadcasting: stored transaction bytes are sent to the nodes, and their replies handled.

A reply settles little: a transaction's outcome is read from the chain.
"""

import logging
from collections.abc import Sequence

from django.utils import timezone

from tokens.chains.evm.evm_chain import Chain
from tokens.chains.transaction_types import BroadcastResult, BroadcastStatus
from tokens.deploying.sending import state_transitions
from tokens.deploying.sending.wallet_alerts import clear_alerts, set_alert
from tokens.models import BroadcastErrorCode, SignedTransaction, TransactionPurpose, WalletAlert

logger = logging.getLogger(__name__)

# The transaction is in a node's mempool.
_ACCEPTED = (BroadcastStatus.ACCEPTED, BroadcastStatus.ALREADY_KNOWN)
# Replies that an operator can act on.
_ALERTING = (BroadcastStatus.INSUFFICIENT_FUNDS, BroadcastStatus.UNDERPRICED, BroadcastStatus.FEE_TOO_LOW)


def broadcast_versions(chain: Chain, versions: Sequence[SignedTransaction]) -> None:
    """Broadcast signed versions, which are all committed; safe to repeat.

    A version that every node rejects permanently fails its deployment here. Any other outcome is read from the chain.
    """
    if not versions:
        return
    replies = chain.broadcast([bytes(version.raw) for version in versions])
    for version, sent in zip(versions, replies, strict=True):
        is_accepted = sent.status in _ACCEPTED
        error_code = "" if is_accepted else BroadcastErrorCode[sent.status.name]
        # The former version reads the status at the text's beginning.
        message = "" if is_accepted else f"{sent.status.value}: {sent.message}"
        SignedTransaction.objects.filter(pk=version.pk).update(
            sent_at=timezone.now(), error_code=error_code, error=message
        )
        if message and message != version.error and sent.status is not BroadcastStatus.NONCE_SPENT:
            logger.warning("chain %s: %s is rejected: %s", chain.info.chain_id, version.tx_hash, message)
        _apply_reply(version, sent)


def _apply_reply(version: SignedTransaction, sent: BroadcastResult) -> None:
    """Update the wallet's alerts and the deployment from one version's replies."""
    attempt = version.attempt
    if sent.status in _ACCEPTED:
        clear_alerts(attempt.wallet, WalletAlert.SENDING)
    elif sent.status in _ALERTING:
        set_alert(
            attempt.wallet_id, WalletAlert.SENDING, f"nonce {attempt.nonce} is {sent.status.value}: {sent.message}"
        )
    elif sent.status is BroadcastStatus.REJECTED:
        # Its nonce is then filled with an empty transaction, as for any cancelled attempt.
        if version.purpose == TransactionPurpose.CANCEL:
            set_alert(attempt.wallet_id, WalletAlert.SENDING, f"nonce {attempt.nonce} can't be filled: {sent.message}")
        elif attempt.deployment is not None:
            state_transitions.mark_failed(
                attempt.deployment, f"the chain's nodes reject the transaction: {sent.message}"
            )
