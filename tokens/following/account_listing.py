"""The transactions that name an account, listed from the newest back, page by page, until they meet what is read."""

from collections.abc import Sequence
from datetime import UTC, datetime

from django.db import transaction
from django.utils import timezone

from tokens.chains.base import NodeUnavailable
from tokens.chains.solana import SignatureInfo, SolanaChain
from tokens.following import accounts
from tokens.models import FollowedAccount, ListedSignature


def list_page(account: FollowedAccount, *, chain: SolanaChain, head: int) -> None:
    """Take the listing one page further, or begin one at `head`, the newest finalised slot, and keep what is new.

    Each page but the first is asked for so that the last transaction of the page before comes once more: a node that
    lacks the one from which it is to go on answers with nothing, as it does at the end. Where the end comes before
    what was read, the node has forgotten some, and nothing is believed.
    Raises NodeUnavailable, Overtaken.
    """
    begins = account.listing_slot is None
    slot = head if account.listing_slot is None else account.listing_slot
    page = chain.list_signatures(account.address, before=account.listed_before or None, min_slot=slot)
    older = page if begins else _behind(account, page)
    # A page may have any length, and only one with nothing older is the last; a single transaction has none to overlap.
    floor = accounts.floor_of(account)
    at_end = not older or (begins and len(page) == 1) or older[-1].slot < floor
    wanted = accounts.lowest_known(account)
    met = account.met or any(info.signature == wanted for info in page)
    if at_end and account.read_to and not met:
        accounts.give_up_listing(account)
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
        accounts.move(account, **news)
        _keep(account, [info for info in page if info.slot >= floor and not info.failed])


def _behind(account: FollowedAccount, page: Sequence[SignatureInfo]) -> Sequence[SignatureInfo]:
    """What the page has beyond the oldest transaction that is listed.

    Raises NodeUnavailable where it lacks that: an empty one is of a node that is behind or forgets, and another one may
    go on. One that is not empty is of an index that has changed meanwhile, and the listing begins anew.
    """
    signatures = [info.signature for info in page]
    if account.listed_to not in signatures:
        if page:
            accounts.give_up_listing(account)
        raise NodeUnavailable(
            f"chain {account.chain_id}: its node lists {account.address} without what another page had"
        )
    return page[signatures.index(account.listed_to) + 1 :]


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
