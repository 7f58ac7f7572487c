"""What is in flight on a chain, looked at again and again until its tokens are listed and their blocks final."""

import logging

from django.db.models import Exists, OuterRef, QuerySet

from config.postgresql.advisory_locks import held
from tokens.deploying.sending import confirm as confirming
from tokens.deploying.sending import finish, nonce_queue, presales, settle
from tokens.indexing.chain_lock import Purpose, key
from tokens.installation.installed_chains import installed_chain
from tokens.models import DeployAttempt, Deployment, DeployWallet

logger = logging.getLogger(__name__)


def watch(chain_id: int) -> list[int]:
    """Settle, finish and push on what is in flight; ids of orders that are back in line, to be submitted.

    One at a time does it for a chain; two would do no harm. Raises HeldElsewhere, NodeUnavailable, UnsupportedChain.
    """
    with held(key(Purpose.DEPLOYING, chain_id)):
        chain = installed_chain(chain_id)
        wallets = list(DeployWallet.objects.filter(Exists(_in_flight()), chain_id=chain_id))
        accounts = chain.read_accounts([wallet.address for wallet in wallets]) if wallets else {}
        back = settle.settle(chain, wallets, accounts=accounts)
        finish.finish(chain)
        for wallet in wallets:
            nonce_queue.tend(chain, wallet, count=accounts[wallet.address].nonce)
    return back


def confirm(chain_id: int) -> list[int]:
    """Look at the blocks of what is mined: dropped, or final; and at what could not be finished. As `watch`.

    Raises NodeUnavailable, UnsupportedChain.
    """
    chain = installed_chain(chain_id)
    finish.finish_all(chain)
    confirming.confirm(chain)
    presales.settle(chain)
    return settle.put_back_lost(chain)


def chains_in_flight() -> list[int]:
    """The chains on which something is in flight, or mined and not listed yet."""
    wallets = DeployWallet.objects.filter(Exists(_in_flight())).values_list("chain_id", flat=True)
    unlisted = Deployment.objects.filter(status=Deployment.Status.MINED, final_at__isnull=True).exclude(
        expected_address=""
    )
    return sorted({*wallets, *unlisted.values_list("chain_id", flat=True).distinct()})


def chains_unsettled() -> list[int]:
    """The chains on which something is not final."""
    attempts = DeployAttempt.objects.filter(final_at__isnull=True).values_list("wallet__chain_id", flat=True)
    orders = Deployment.objects.filter(final_at__isnull=True).exclude(status=Deployment.Status.ENQUEUED)
    return sorted({*attempts.distinct(), *orders.values_list("chain_id", flat=True).distinct()})


def _in_flight() -> QuerySet[DeployAttempt]:
    return DeployAttempt.objects.filter(wallet=OuterRef("pk"), state=DeployAttempt.State.OPEN, final_at__isnull=True)
