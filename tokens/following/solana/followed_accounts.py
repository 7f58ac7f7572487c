"""The followed accounts of Solana's launchpads, and the one function that advances their progress.

Progress advances by compare-and-set, in the transaction that writes launches and trades. So a process killed at any
instant resumes without a gap, and two processes that follow the same account notice each other.
"""

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, OuterRef, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from tokens.chains.registry.chains import ChainInfo
from tokens.following.chain_heads import follower_name
from tokens.following.coverage import ProgressConflictError
from tokens.models import ChainHead, FollowedAccount, ListedSignature, Token

logger = logging.getLogger(__name__)

# Slots by which a listing overlaps the last one, about a minute. A node's newest slot proves that the node is recent
# enough, but not that its signature index is: a node counts as healthy up to 128 slots behind the others.
OVERLAP_SLOTS = 150

_LISTING = {
    "listing_slot": None,
    "listing_at": None,
    "listed_from": "",
    "listed_from_slot": 0,
    "listed_to": "",
    "listed_before": "",
    "met": False,
    "listed": False,
}
_STATE = ("read_to", "complete_to", *_LISTING)


def followed_addresses(chain: ChainInfo) -> tuple[str, ...]:
    """Return the accounts that launches name, each once."""
    return tuple(dict.fromkeys([*chain.addresses("launch_config"), *chain.addresses("launch_creator")]))


def open_accounts(chain: ChainInfo) -> list[FollowedAccount]:
    """Return the rows for the registry's accounts; a new account is read from FOLLOW_FROM's slot on.

    Without FOLLOW_FROM, all its transactions are read. If an account has left the registry, its row stays as it is.
    """
    addresses = followed_addresses(chain)
    stored = {
        account.address: account
        for account in FollowedAccount.objects.filter(chain_id=chain.chain_id, address__in=addresses)
    }
    first = settings.FOLLOW_FROM.get(chain.chain_id, 0)
    return [stored.get(address) or open_account(address, chain, first_slot=first) for address in addresses]


def advance_account(account: FollowedAccount, **changes: Any) -> None:
    """Set progress columns, and lock the row until the end of the database transaction.

    Raises ProgressConflictError if another process has changed them. After a rollback, the row in memory has to be
    reloaded.
    """
    before = {name: getattr(account, name) for name in _STATE}
    unchanged = FollowedAccount.objects.filter(pk=account.pk, **before)
    if not unchanged.update(**changes, updated_at=timezone.now()):
        raise ProgressConflictError(f"{account}: another process follows it")
    for name, value in changes.items():
        setattr(account, name, value)


def restart_listing(account: FollowedAccount) -> None:
    """Discard the listing, to start it anew; listed transactions stay to be read. Raises ProgressConflictError."""
    advance_account(account, **_LISTING)


def lowest_required(account: FollowedAccount) -> str:
    """Return the oldest transaction that a listing must reach: the oldest read one in its range, or the last one read.

    If a node has pruned older transactions, a listing that has reached `read_to` may end above the overlap.
    """
    signatures = ListedSignature.objects.filter(account=account, read=True).order_by("slot", "-pk")
    return signatures.values_list("signature", flat=True).first() or account.read_to


def unread_signatures(account: FollowedAccount) -> Any:
    """Return the account's transactions that are listed but not read, oldest first."""
    return ListedSignature.objects.filter(account=account, read=False).order_by("slot", "-pk")


def read_again(chain_id: int) -> int:
    """Have all accounts be read again from their beginning, and pools from their launch; return how many.

    Stored rows stay, and no row is stored twice. A process that follows an account continues from its beginning.
    """
    launches = Token.objects.on_chain().filter(chain_id=chain_id, pool_address=OuterRef("address"))
    with transaction.atomic():
        accounts = FollowedAccount.objects.filter(chain_id=chain_id)
        # Locked before their signatures, as in followers: the other sequence would cause deadlocks.
        list(accounts.order_by("pk").select_for_update(no_key=True))
        ListedSignature.objects.filter(account__in=accounts).delete()
        return accounts.update(
            read_to=Coalesce(Subquery(launches.values("tx_hash")[:1]), Value("")),
            read_to_slot=F("first_slot"),
            complete_to=None,
            complete_at=None,
            updated_at=timezone.now(),
            **_LISTING,
        )


def complete_listing(account: FollowedAccount) -> None:
    """Store that a listing is read in full, and delete signatures below later listings' range.

    Raises ProgressConflictError.
    """
    with transaction.atomic():
        changes: dict[str, Any] = {"complete_to": account.listing_slot, "complete_at": account.listing_at}
        if account.listed_from:
            changes |= {"read_to": account.listed_from, "read_to_slot": account.listed_from_slot}
        advance_account(account, **_LISTING, **changes)
        past = ListedSignature.objects.filter(account=account, read=True, slot__lt=floor_of(account))
        past.delete()


def floor_of(account: FollowedAccount) -> int:
    """Return the next listing's lowest slot."""
    return max(account.first_slot, account.read_to_slot - OVERLAP_SLOTS if account.read_to else 0)


@dataclass(frozen=True, kw_only=True)
class FollowedSlot:
    """The slot up to which all accounts are read, and the time since which the next slot waits, if any."""

    slot: int
    at: datetime | None


def followed_slot(accounts: list[FollowedAccount]) -> FollowedSlot | None:
    """Return how far all accounts are read; None without accounts, or before their listings are complete."""
    slots = [followed for account in accounts if (followed := _account_followed_slot(account))]
    return min(slots, key=lambda followed: followed.slot) if slots and len(slots) == len(accounts) else None


def _account_followed_slot(account: FollowedAccount) -> FollowedSlot | None:
    if account.listed and (oldest := unread_signatures(account).first()):
        return FollowedSlot(slot=oldest.slot - 1, at=oldest.at or account.complete_at)
    return None if account.complete_to is None else FollowedSlot(slot=account.complete_to, at=account.complete_at)


def open_account(address: str, chain: ChainInfo, *, first_slot: int, first: str = "") -> FollowedAccount:
    """Return the account's row; a new row is read from slot `first_slot` on.

    `first` is a transaction in that slot, which the first listing must reach to be trusted.
    """
    account, created = FollowedAccount.objects.get_or_create(
        chain_id=chain.chain_id,
        address=address,
        defaults={"first_slot": first_slot, "read_to": first, "read_to_slot": first_slot if first else 0},
    )
    if created:
        logger.info("chain=%s account=%s is followed from slot %s", chain.chain_id, address, first_slot)
    return account


def store_slot_head(info: ChainInfo, *, head: int, followed: FollowedSlot | None) -> None:
    """Store the newest finalised slot, and how far the chain's accounts are read.

    The slot's own time would cost another call, and is only a few seconds before the report.
    """
    now = timezone.now()
    columns = {
        "head": head,
        "final": head,
        "followed": followed and followed.slot,
        "followed_at": followed and followed.at,
        "head_at": now,
        "seen_at": now,
        "follower": follower_name(),
    }
    ChainHead.objects.update_or_create(pk=info.chain_id, defaults=columns)
