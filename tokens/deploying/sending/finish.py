"""From a transaction in a block to a token in the lists, by the same path as every other launch."""

import logging
from datetime import timedelta

from django.utils import timezone

from config.http.json_client import Permanent, Retryable
from tokens.chains.protocols import Chain
from tokens.deploying.sending import state_transitions
from tokens.indexing import index_requests
from tokens.models import DeployAttempt, Deployment, DeployWallet, SignedTransaction, Token
from tokens.models.deployment_querysets import DeploymentQuerySet

logger = logging.getLogger(__name__)

# So many orders are finished at a time.
BATCH = 200
# An order that could not be finished for so long is tried with less haste, by `finish_all`.
HASTE_SECONDS = 30


def finish(chain: Chain) -> int:
    """Have the tokens of what was mined just now listed; how many orders are done."""
    recently = timezone.now() - timedelta(seconds=HASTE_SECONDS)
    mined = _unlisted(chain).filter(updated_at__gt=recently).exclude(tx_hash="")
    return sum(_finish_one(order) for order in list(mined[:BATCH]))


def finish_all(chain: Chain) -> int:
    """As `finish`, with what could not be finished for long, and tokens that are there without our knowing how.

    Raises NodeUnavailable.
    """
    done = 0
    for order in list(_unlisted(chain)[:BATCH]):
        if not order.tx_hash and not _link(order):
            found = _find_launch(chain, order)
            if found and state_transitions.count_as_mined(order, tx_hash=found):
                order.tx_hash = found
            elif not found and not chain.has_code(order.expected_address):
                state_transitions.doubt(order)
        done += _finish_one(order)
    return done


def _unlisted(chain: Chain) -> DeploymentQuerySet:
    return Deployment.objects.unlisted(chain.info.chain_id).exclude(expected_address="").defer("config", "calldata")


def _finish_one(order: Deployment) -> bool:
    # The follower may have been first.
    if _link(order):
        return True
    if not order.tx_hash:
        return False
    try:
        index_requests.index_transaction(chain_id=order.chain_id, tx_hash=order.tx_hash)
    except (Retryable, Permanent) as error:
        # The request of the transaction says the same to operators.
        logger.warning(
            "chain %s: can't index %s of %s yet: %s", order.chain_id, order.tx_hash, order.request_key, error
        )
        return False
    return _link(order)


def _link(order: Deployment) -> bool:
    """Tie the order to its token, if that is listed and ours."""
    token = Token.objects.on_chain().filter(chain_id=order.chain_id, contract_address=order.expected_address).first()
    if token is None or not _is_up_to_date(order, token):
        return False
    mined = Deployment.objects.filter(pk=order.pk, status=Deployment.Status.MINED)
    if not _is_ours(order, token):
        mined.move(
            status=Deployment.Status.FAILED, error=f"somebody else launched at its address, with {token.tx_hash}"
        )
        return False
    linked = mined.move(status=Deployment.Status.INDEXED, token=token, tx_hash=token.tx_hash, error="")
    if linked:
        logger.info("chain %s: deployment %s indexed: %s", order.chain_id, order.request_key, order.expected_address)
    return bool(linked)


def _is_up_to_date(order: Deployment, token: Token) -> bool:
    """Whether the token is listed with the order's transaction, if that is known, and with its block.

    Else the chain has dropped the block that the list knows, and it is indexed anew.
    """
    if order.tx_hash and token.tx_hash != order.tx_hash:
        return False
    mined = DeployAttempt.objects.filter(deployment=order, tx_hash=token.tx_hash)
    return not mined.exclude(block_hash=token.block_hash).exists()


def _is_ours(order: Deployment, token: Token) -> bool:
    """Whether a wallet of ours launched it, with the order's configuration and not only at its address.

    The address depends on the token alone, and not on who gets the fees.
    """
    if SignedTransaction.objects.filter(tx_hash=token.tx_hash, attempt__deployment=order).exists():
        return True
    return DeployWallet.objects.filter(chain_id=order.chain_id, address=token.msg_sender).exists()


def _find_launch(chain: Chain, order: Deployment) -> str:
    """The transaction that launched an order's token, which is there without our knowing how; "" where not found yet.

    It may be a version that seemed lost, or one that an older backup of the database does not know.
    """
    hashes = SignedTransaction.objects.filter(attempt__deployment=order).values_list("tx_hash", flat=True)
    for outcome in chain.find_outcomes(list(hashes)).values():
        if outcome.succeeded:
            return outcome.tx_hash
    head = chain.read_head()
    newest = chain.read_range(max(head - chain.range_blocks() + 1, 0), head, addresses=(order.to_address.lower(),))
    for facts in newest.transactions:
        if any(launch.token == order.expected_address for launch in facts.launches):
            return facts.tx_hash
    return ""
