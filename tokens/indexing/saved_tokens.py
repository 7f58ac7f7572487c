"""Launch reports from pages: indexing soon after, and users' saved tokens."""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.users import calling_users
from accounts.users.calling_users import CallingUser
from config.http.errors import PermanentError
from tokens.indexing import index_requests
from tokens.models import IndexRequest, SavedToken

# A page has its transaction before most nodes do.
DELAY_SECONDS = 5
# Per user, confirmed or not. Launches cost gas, but saving other users' launches is free.
MAX_SAVED = 1_000


class SavedTokenQuotaError(PermanentError):
    """A user's saved token limit is reached. The text is for the user."""


def save_token(address: str, *, chain_id: int, tx_hash: str, user: CallingUser | None) -> None:
    """Schedule the indexing of a reported launch; with a user, save the token for the user.

    A report neither creates nor changes a listed token: that comes only from the chain. Idempotent, also when
    concurrent. Raises UnsupportedChainError, SavedTokenQuotaError.
    """
    with transaction.atomic():
        index_requests.schedule_indexing(chain_id=chain_id, tx_hash=tx_hash, delay=DELAY_SECONDS)
        if user is not None:
            reported = SavedToken(
                person_id=user.person_id, chain_id=chain_id, tx_hash=tx_hash, contract_address=address
            )
            _keep(reported)


def prune_unconfirmed() -> int:
    """Delete reports that the chain has not confirmed for SAVED_TOKEN_DAYS. Return how many rows."""
    before = timezone.now() - timedelta(days=settings.SAVED_TOKEN_DAYS)
    saved, _ = SavedToken.objects.filter(created_at__lt=before).unconfirmed().delete()
    failed, _ = IndexRequest.objects.failed_page_requests(before).delete()
    return saved + failed


def _keep(reported: SavedToken) -> None:
    """Insert a saved token unless it exists. Raises SavedTokenQuotaError."""
    # A user's calls are serialized from here on, so that none counts rows that another is about to add.
    saved_tokens = SavedToken.objects.filter(person__in=calling_users.lock_user(reported.person_id))
    if saved_tokens.filter(
        chain_id=reported.chain_id, tx_hash=reported.tx_hash, contract_address=reported.contract_address
    ).exists():
        return
    if saved_tokens.count() >= MAX_SAVED:
        raise SavedTokenQuotaError(f"{MAX_SAVED} tokens are saved, which is the most")
    reported.save(force_insert=True)
