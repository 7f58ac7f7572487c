"""The accounts of Solana's launchpads: which are followed, how far each is read, and the one way in which that moves.

Progress moves by compare-and-set, in the transaction that writes what was found. So a process that is killed at any
instant resumes without a gap, and two that follow the same account notice each other.
"""

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from tokens.chains.registry.chains import ChainInfo
from tokens.following.coverage import Overtaken
from tokens.models import FollowedAccount, ListedSignature

logger = logging.getLogger(__name__)

# A listing goes on for so many slots, which are about a minute, below the newest transaction that was read before. A
# node proves by its newest slot that it has come far enough, and not that its index of signatures has: it counts
# itself as well up to 128 slots behind the others.
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
    """The accounts by which launches are told, each once."""
    return tuple(dict.fromkeys([*chain.addresses("launch_config"), *chain.addresses("launch_creator")]))


def open_accounts(chain: ChainInfo) -> list[FollowedAccount]:
    """The rows of the accounts that the registry has now; one that it has gained is read from FOLLOW_FROM's slot on.

    Without FOLLOW_FROM all of its transactions are read. The row of one that it has lost stays as it is.
    """
    addresses = followed_addresses(chain)
    there = {
        account.address: account
        for account in FollowedAccount.objects.filter(chain_id=chain.chain_id, address__in=addresses)
    }
    first = settings.FOLLOW_FROM.get(chain.chain_id, 0)
    return [there.get(address) or open_account(address, chain, first_slot=first) for address in addresses]


def move(account: FollowedAccount, **news: Any) -> None:
    """Set columns of progress, unless somebody else has; locks the row until the end of the database transaction.

    Raises Overtaken. After a transaction that was rolled back, the row in memory is to be read again.
    """
    before = {name: getattr(account, name) for name in _STATE}
    unchanged = FollowedAccount.objects.filter(pk=account.pk, **before)
    if not unchanged.update(**news, updated_at=timezone.now()):
        raise Overtaken(f"{account}: somebody else follows it")
    for name, value in news.items():
        setattr(account, name, value)


def give_up_listing(account: FollowedAccount) -> None:
    """Begin the listing anew the next time; what it told of stays to be read. Raises Overtaken."""
    move(account, **_LISTING)


def lowest_known(account: FollowedAccount) -> str:
    """The oldest transaction that a listing must meet: of those to which it comes down, or what was read last.

    Where a node has forgotten what is older, a listing that has met `read_to` may end above what listings overlap by.
    """
    known = ListedSignature.objects.filter(account=account, read=True).order_by("slot", "-pk")
    return known.values_list("signature", flat=True).first() or account.read_to


def unread(account: FollowedAccount) -> Any:
    """The account's transactions that are listed and not read, oldest first."""
    return ListedSignature.objects.filter(account=account, read=False).order_by("slot", "-pk")


def complete(account: FollowedAccount) -> None:
    """Note that all of a listing is read, and forget what no further listing comes down to. Raises Overtaken."""
    with transaction.atomic():
        news: dict[str, Any] = {"complete_to": account.listing_slot, "complete_at": account.listing_at}
        if account.listed_from:
            news |= {"read_to": account.listed_from, "read_to_slot": account.listed_from_slot}
        move(account, **_LISTING, **news)
        past = ListedSignature.objects.filter(account=account, read=True, slot__lt=floor_of(account))
        past.delete()


def floor_of(account: FollowedAccount) -> int:
    """The lowest slot to which the next listing comes down."""
    return max(account.first_slot, account.read_to_slot - OVERLAP_SLOTS if account.read_to else 0)


@dataclass(frozen=True, kw_only=True)
class Followed:
    """Up to which slot all accounts are read, and since when what comes next waits, as far as that is known."""

    slot: int
    at: datetime | None


def followed_to(accounts: list[FollowedAccount]) -> Followed | None:
    """How far all of these are read; None where there are none, or where it is not known yet what is to be read."""
    found = [_followed_to(account) for account in accounts]
    known = [followed for followed in found if followed is not None]
    return min(known, key=lambda followed: followed.slot) if known and len(known) == len(found) else None


def _followed_to(account: FollowedAccount) -> Followed | None:
    if account.listed and (oldest := unread(account).first()):
        return Followed(slot=oldest.slot - 1, at=oldest.at or account.complete_at)
    return None if account.complete_to is None else Followed(slot=account.complete_to, at=account.complete_at)


def open_account(address: str, chain: ChainInfo, *, first_slot: int, first: str = "") -> FollowedAccount:
    """The account's row; a new one where there is none, which is read from this slot on.

    `first` is a transaction of that slot, where one is known, which the first listing must meet to be believed.
    """
    account, created = FollowedAccount.objects.get_or_create(
        chain_id=chain.chain_id,
        address=address,
        defaults={"first_slot": first_slot, "read_to": first, "read_to_slot": first_slot if first else 0},
    )
    if created:
        logger.info("chain=%s account=%s is followed from slot %s", chain.chain_id, address, first_slot)
    return account
