"""Mined deployment indexing, by the same path as every other launch."""

import logging
from datetime import timedelta

from django.utils import timezone

from config.http.errors import PermanentError, RetryableError
from tokens.chains.evm.evm_chain import Chain
from tokens.deploying.sending import state_transitions
from tokens.indexing import index_requests
from tokens.models import DeployAttempt, Deployment, DeploymentStatus, DeployWallet, SignedTransaction, Token
from tokens.models.deployment import DeploymentQuerySet

logger = logging.getLogger(__name__)

# Deployments per call.
BATCH = 200
# A deployment that was mined longer ago is left to `index_all_mined`, which runs less often.
RECENT_SECONDS = 30


def index_mined(chain: Chain) -> int:
    """Index the tokens of recently mined deployments; return the number indexed."""
    recently = timezone.now() - timedelta(seconds=RECENT_SECONDS)
    mined = _unlisted(chain).filter(updated_at__gt=recently).exclude(tx_hash="")
    return sum(_finish_one(deployment) for deployment in list(mined[:BATCH]))


def index_all_mined(chain: Chain) -> int:
    """Index all mined deployments, including old ones and tokens that exist without a known transaction.

    Raises NodeUnavailableError.
    """
    indexed = 0
    for deployment in list(_unlisted(chain)[:BATCH]):
        if not deployment.tx_hash and not _link(deployment):
            tx_hash = _find_launch(chain, deployment)
            if tx_hash and state_transitions.mark_mined(deployment, tx_hash=tx_hash):
                deployment.tx_hash = tx_hash
            elif not tx_hash and not chain.has_code(deployment.expected_address):
                state_transitions.revert_unexplained(deployment)
        indexed += _finish_one(deployment)
    return indexed


def _unlisted(chain: Chain) -> DeploymentQuerySet:
    return (
        Deployment.objects.awaiting_indexing(chain.info.chain_id)
        .exclude(expected_address="")
        .defer("config", "calldata")
    )


def _finish_one(deployment: Deployment) -> bool:
    # The follower may have indexed it already.
    if _link(deployment):
        return True
    if not deployment.tx_hash:
        return False
    try:
        index_requests.index_transaction(chain_id=deployment.chain_id, tx_hash=deployment.tx_hash)
    except (RetryableError, PermanentError) as error:
        # The transaction's index request has the same error for operators.
        logger.warning(
            "chain %s: can't index %s of %s yet: %s",
            deployment.chain_id,
            deployment.tx_hash,
            deployment.request_key,
            error,
        )
        return False
    return _link(deployment)


def _link(deployment: Deployment) -> bool:
    """Link the deployment to its token, if that is listed and was launched by this service."""
    token = (
        Token.objects.on_chain()
        .filter(chain_id=deployment.chain_id, contract_address=deployment.expected_address)
        .first()
    )
    if token is None or not _is_up_to_date(deployment, token):
        return False
    mined = Deployment.objects.filter(pk=deployment.pk, status=DeploymentStatus.MINED)
    if not _is_ours(deployment, token):
        mined.update_and_touch(
            status=DeploymentStatus.FAILED, error=f"another account launched at its address, with {token.tx_hash}"
        )
        return False
    linked = mined.update_and_touch(status=DeploymentStatus.INDEXED, token=token, tx_hash=token.tx_hash, error="")
    if linked:
        logger.info(
            "chain %s: deployment %s indexed: %s",
            deployment.chain_id,
            deployment.request_key,
            deployment.expected_address,
        )
    return bool(linked)


def _is_up_to_date(deployment: Deployment, token: Token) -> bool:
    """Return whether the token is listed with the deployment's transaction, if known, and with its block.

    Otherwise a reorg replaced the listed block, and the token has to be indexed again.
    """
    if deployment.tx_hash and token.tx_hash != deployment.tx_hash:
        return False
    mined = DeployAttempt.objects.filter(deployment=deployment, tx_hash=token.tx_hash)
    return not mined.exclude(block_hash=token.block_hash).exists()


def _is_ours(deployment: Deployment, token: Token) -> bool:
    """Return whether this service launched the token, with the deployment's configuration.

    The address proves nothing: it depends on the token, not on the fee recipients.
    """
    if SignedTransaction.objects.filter(tx_hash=token.tx_hash, attempt__deployment=deployment).exists():
        return True
    return DeployWallet.objects.filter(chain_id=deployment.chain_id, address=token.msg_sender).exists()


def _find_launch(chain: Chain, deployment: Deployment) -> str:
    """Return the transaction that launched an existing token with unknown origin; "" if it is not found.

    It may be a version that seemed lost, or one that an older database backup lacks.
    """
    hashes = SignedTransaction.objects.filter(attempt__deployment=deployment).values_list("tx_hash", flat=True)
    for outcome in chain.find_outcomes(list(hashes)).values():
        if outcome.succeeded:
            return outcome.tx_hash
    head = chain.read_head()
    newest = chain.read_range(max(head - chain.range_blocks() + 1, 0), head, addresses=(deployment.to_address.lower(),))
    for facts in newest.transactions:
        if any(launch.token == deployment.expected_address for launch in facts.launches):
            return facts.tx_hash
    return ""
