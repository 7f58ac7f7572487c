"""What pages say of launches: the transaction is looked at soon, and a user's word is kept as his."""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.users import calling_users
from accounts.users.calling_users import CallingUser
from config.http.json_client import Permanent
from tokens.indexing import index_requests
from tokens.models import IndexRequest, SavedToken

# A page hears of its transaction before most nodes do.
DELAY_SECONDS = 5
# Of one user, whatever the chain says of them. Launches cost gas, saving those of others costs nothing.
MAX_SAVED = 1_000


class NoRoom(Permanent):
    """The user has saved as many tokens as he may; the text is for him."""


def save(address: str, *, chain_id: int, tx_hash: str, user: CallingUser | None) -> None:
    """Have a transaction indexed that is said to have launched the token at an address; a user has it saved.

    Nobody's word makes a token, nor changes one: what is listed, and who asked for it, the chain alone says. The same
    again, also at once, changes nothing. Raises UnsupportedChain, NoRoom.
    """
    with transaction.atomic():
        index_requests.schedule(chain_id=chain_id, tx_hash=tx_hash, pause=DELAY_SECONDS)
        if user is not None:
            said = SavedToken(person_id=user.person_id, chain_id=chain_id, tx_hash=tx_hash, contract_address=address)
            _keep(said)


def prune() -> int:
    """Delete what pages have said and the chain has not confirmed for SAVED_TOKEN_DAYS; how many rows that were."""
    before = timezone.now() - timedelta(days=settings.SAVED_TOKEN_DAYS)
    saved, _ = SavedToken.objects.filter(created_at__lt=before).unconfirmed().delete()
    failed, _ = IndexRequest.objects.failed_of_pages(before).delete()
    return saved + failed


def _keep(said: SavedToken) -> None:
    # His own calls wait for each other from here on, so that none counts what another one is about to add.
    kept = SavedToken.objects.filter(person__in=calling_users.hold(said.person_id))
    if kept.filter(chain_id=said.chain_id, tx_hash=said.tx_hash, contract_address=said.contract_address).exists():
        return
    if kept.count() >= MAX_SAVED:
        raise NoRoom(f"{MAX_SAVED} tokens are saved, which is the most")
    said.save(force_insert=True)
