"""Watcher for a chain's deployments, until their tokens are listed and their blocks final."""

import logging

from django.db.models import Exists, OuterRef, QuerySet

from config.postgresql.advisory_locks import session_lock
from tokens.deploying.sending import confirm, finish, nonce_queue, presales, settle
from tokens.indexing.chain_lock import ChainLockPurpose, chain_lock_key
from tokens.installation.installed_chains import installed_chain
from tokens.models import AttemptState, DeployAttempt, Deployment, DeploymentStatus, DeployWallet

logger = logging.getLogger(__name__)


def watch_chain(chain_id: int) -> list[int]:
    """Settle, index and process a chain's nonce queues; return the deployment ids to submit again.

    One process per chain runs it; two would do no harm. Raises the lock's error if another process holds it,
    NodeUnavailableError, UnsupportedChainError.
    """
    with session_lock(chain_lock_key(ChainLockPurpose.DEPLOYING, chain_id)):
        chain = installed_chain(chain_id)
        wallets = list(DeployWallet.objects.filter(Exists(_in_flight()), chain_id=chain_id))
        accounts = chain.read_accounts([wallet.address for wallet in wallets]) if wallets else {}
        requeued = settle.settle_attempts(chain, wallets, accounts=accounts)
        finish.index_mined(chain)
        for wallet in wallets:
            nonce_queue.process_nonce_queue(chain, wallet, count=accounts[wallet.address].nonce)
    return requeued


def confirm_chain(chain_id: int) -> list[int]:
    """Check mined attempts' blocks for reorgs and finality, and retry failed indexing; as `watch_chain`.

    Raises NodeUnavailableError, UnsupportedChainError.
    """
    chain = installed_chain(chain_id)
    finish.index_all_mined(chain)
    confirm.confirm_attempts(chain)
    presales.settle_presales(chain)
    return settle.requeue_lost(chain)


def chains_in_flight() -> list[int]:
    """Return the chains with attempts in flight, or mined deployments that are not listed yet."""
    wallets = DeployWallet.objects.filter(Exists(_in_flight())).values_list("chain_id", flat=True)
    unlisted = Deployment.objects.filter(status=DeploymentStatus.MINED, final_at__isnull=True).exclude(
        expected_address=""
    )
    return sorted({*wallets, *unlisted.values_list("chain_id", flat=True).distinct()})


def chains_with_unsettled() -> list[int]:
    """Return the chains with attempts or deployments that are not final."""
    attempts = DeployAttempt.objects.filter(final_at__isnull=True).values_list("wallet__chain_id", flat=True)
    deployments = Deployment.objects.filter(final_at__isnull=True).exclude(status=DeploymentStatus.ENQUEUED)
    return sorted({*attempts.distinct(), *deployments.values_list("chain_id", flat=True).distinct()})


def _in_flight() -> QuerySet[DeployAttempt]:
    return DeployAttempt.objects.filter(wallet=OuterRef("pk"), state=AttemptState.OPEN, final_at__isnull=True)
