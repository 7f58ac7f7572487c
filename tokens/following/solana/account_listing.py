"""The transactions that name an account, listed from the newest back, page by page, until they meet what is read."""

from collections.abc import Sequence
from datetime import UTC, datetime

from django.db import transaction
from django.utils import timezone

from tokens.chains.solana.solana_chain import MOST_LISTED, SignatureInfo, SolanaChain
from tokens.chains.types import NodeUnavailable
from tokens.following.solana import followed_accounts
from tokens.models import FollowedAccount, ListedSignature

# So many transactions more than are known are asked for first.
_ROOM_FOR_NEWS = 50


def list_page(account: FollowedAccount, *, chain: SolanaChain, head: int) -> None:
    """Take the listing one page further, or begin one at `head`, the newest finalised slot, and keep what is new.

    Each page but the first is asked for so that the last transaction of the page before comes once more: a node that
    lacks the one from which it is to go on answers with nothing, as it does at the end. Where the end comes before
    what was read, the node has forgotten some, and nothing is believed; where nothing was read yet, the end is believed
    that no node knows better.
    Raises NodeUnavailable, Overtaken.
    """
    begins = account.listing_slot is None
    slot = head if account.listing_slot is None else account.listing_slot
    before = account.listed_before or None
    page = chain.list_signatures(account.address, before=before, min_slot=slot, most=_page_length(account))
    if account.complete_to is None and not account.read_to and _seems_last(account, page):
        page = _ask_all(account, chain=chain, before=before, slot=slot)
    older = page if begins else _behind(account, page)
    # A page may have any length, and only one with nothing older is the last; a single transaction has none to overlap.
    floor = followed_accounts.floor_of(account)
    at_end = not older or (begins and len(page) == 1) or older[-1].slot < floor
    wanted = followed_accounts.lowest_known(account)
    met = account.met or any(info.signature == wanted for info in page)
    if at_end and account.read_to and not met:
        followed_accounts.give_up_listing(account)
        raise NodeUnavailable(f"chain {chain.info.chain_id}: its node lists {account.address} without what was read")
    news: dict[str, object] = {"met": met, "listed": at_end}
    if begins:
        newest = page[0] if page else None
        news |= {
            "listing_slot": slot,
            "listing_at": timezone.now(),
            "listed_from": newest.signature if newest else "",
            "listed_from_slot": newest.slot if newest else 0,
        }
    if not at_end:
        news |= {"listed_to": page[-1].signature, "listed_before": page[-2].signature}
    with transaction.atomic():
        followed_accounts.move(account, **news)
        _keep(account, [info for info in page if info.slot >= floor and not info.failed])


def _page_length(account: FollowedAccount) -> int:
    """How many transactions are asked for: where little is new, the first page comes down to what was read."""
    if account.listing_slot is not None or not account.read_to:
        return MOST_LISTED
    known = ListedSignature.objects.filter(
        account=account, read=True, slot__gte=followed_accounts.floor_of(account)
    ).count()
    return min(MOST_LISTED, known + _ROOM_FOR_NEWS)


def _ask_all(account: FollowedAccount, *, chain: SolanaChain, before: str | None, slot: int) -> list[SignatureInfo]:
    """The page of whichever node knows most that is older: one that has forgotten the past lists what it has, as if
    that were all. Raises NodeUnavailable where one is not heard, for it may be the only one that knows.
    """
    pages = chain.list_by_every_node(account.address, before=before, min_slot=slot)
    heard = [page for page in pages if page is not None]
    if len(heard) < len(pages):
        words = f"its nodes don't all tell where the list of {account.address} ends"
        raise NodeUnavailable(f"chain {account.chain_id}: {words}")
    return max((page for page in heard if account.listing_slot is None or _meets(account, page)), key=len, default=[])


def _seems_last(account: FollowedAccount, page: Sequence[SignatureInfo]) -> bool:
    return len(page) < 2 if account.listing_slot is None else not _older(account, page)


def _meets(account: FollowedAccount, page: Sequence[SignatureInfo]) -> bool:
    return any(info.signature == account.listed_to for info in page)


def _older(account: FollowedAccount, page: Sequence[SignatureInfo]) -> Sequence[SignatureInfo]:
    """What the page has beyond the oldest transaction that is listed; nothing where it lacks that."""
    signatures = [info.signature for info in page]
    return page[signatures.index(account.listed_to) + 1 :] if account.listed_to in signatures else ()


def _behind(account: FollowedAccount, page: Sequence[SignatureInfo]) -> Sequence[SignatureInfo]:
    """What the page has beyond the oldest transaction that is listed.

    Raises NodeUnavailable where it lacks that: an empty one is of a node that is behind or forgets, and another one may
    go on. One that is not empty is of an index that has changed meanwhile, and the listing begins anew.
    """
    if not _meets(account, page):
        if page:
            followed_accounts.give_up_listing(account)
        raise NodeUnavailable(
            f"chain {account.chain_id}: its node lists {account.address} without what another page had"
        )
    return _older(account, page)


def _keep(account: FollowedAccount, page: Sequence[SignatureInfo]) -> None:
    """Note transactions, newest first, that are to be read; those that are known stay as they are."""
    rows = [
        ListedSignature(
            account=account,
            signature=info.signature,
            slot=info.slot,
            at=None if info.block_time is None else datetime.fromtimestamp(info.block_time, UTC),
        )
        for info in page
    ]
    ListedSignature.objects.bulk_create(rows, ignore_conflicts=True)
