"""Signature listings of an account: pages from the newest transaction back to transactions that are read."""

from collections.abc import Sequence
from datetime import UTC, datetime

from django.db import transaction
from django.utils import timezone

from tokens.chains.errors import NodeUnavailableError
from tokens.chains.solana.solana_chain import MAX_LISTED, SignatureInfo, SolanaChain
from tokens.following.solana import followed_accounts
from tokens.models import FollowedAccount, ListedSignature

# How many signatures are requested beyond the stored ones.
_EXTRA_SIGNATURES = 50


def list_signature_page(account: FollowedAccount, *, chain: SolanaChain, head: int) -> None:
    """Advance the listing by one page, or begin one at `head`, the newest finalised slot, and store new signatures.

    Each page but the first overlaps the page before by one transaction: a node that lacks the transaction to continue
    from responds with an empty page, as it does at the end. If the listing ends above stored transactions, the node has
    pruned some, and the listing is discarded. If nothing was read yet, the end is trusted only after all nodes agree
    that there is nothing older. Raises NodeUnavailableError, ProgressConflictError.
    """
    begins = account.listing_slot is None
    slot = head if account.listing_slot is None else account.listing_slot
    before = account.listed_before or None
    page = chain.list_signatures(account.address, before=before, min_slot=slot, limit=_page_length(account))
    if account.complete_to is None and not account.read_to and _seems_last(account, page):
        page = _list_by_all_nodes(account, chain=chain, before=before, slot=slot)
    older = page if begins else _behind(account, page)
    # A page may have any length; only one without older transactions is the last. A single transaction has none to
    # overlap.
    floor = followed_accounts.floor_of(account)
    at_end = not older or (begins and len(page) == 1) or older[-1].slot < floor
    lowest = followed_accounts.lowest_required(account)
    met = account.met or any(info.signature == lowest for info in page)
    if at_end and account.read_to and not met:
        followed_accounts.restart_listing(account)
        raise NodeUnavailableError(
            f"chain {chain.info.chain_id}: its node lists {account.address} without transactions that were read"
        )
    changes: dict[str, object] = {"met": met, "listed": at_end}
    if begins:
        newest = page[0] if page else None
        changes |= {
            "listing_slot": slot,
            "listing_at": timezone.now(),
            "listed_from": newest.signature if newest else "",
            "listed_from_slot": newest.slot if newest else 0,
        }
    if not at_end:
        changes |= {"listed_to": page[-1].signature, "listed_before": page[-2].signature}
    with transaction.atomic():
        followed_accounts.advance_account(account, **changes)
        _keep(account, [info for info in page if info.slot >= floor and not info.failed])


def _page_length(account: FollowedAccount) -> int:
    """Return the page size to request. If little is new, the first page reaches down to stored transactions."""
    if account.listing_slot is not None or not account.read_to:
        return MAX_LISTED
    stored_count = ListedSignature.objects.filter(
        account=account, read=True, slot__gte=followed_accounts.floor_of(account)
    ).count()
    return min(MAX_LISTED, stored_count + _EXTRA_SIGNATURES)


def _list_by_all_nodes(
    account: FollowedAccount, *, chain: SolanaChain, before: str | None, slot: int
) -> list[SignatureInfo]:
    """Return the longest page from all nodes. A node that has pruned history lists the rest as if it were all.

    Raises NodeUnavailableError if a node does not respond, because it may be the only one with the history.
    """
    pages = chain.list_signatures_by_node(account.address, before=before, min_slot=slot)
    responses = [page for page in pages if page is not None]
    if len(responses) < len(pages):
        reason = f"not all nodes returned the end of the list of {account.address}"
        raise NodeUnavailableError(f"chain {account.chain_id}: {reason}")
    return max(
        (page for page in responses if account.listing_slot is None or _meets(account, page)), key=len, default=[]
    )


def _seems_last(account: FollowedAccount, page: Sequence[SignatureInfo]) -> bool:
    return len(page) < 2 if account.listing_slot is None else not _older(account, page)


def _meets(account: FollowedAccount, page: Sequence[SignatureInfo]) -> bool:
    return any(info.signature == account.listed_to for info in page)


def _older(account: FollowedAccount, page: Sequence[SignatureInfo]) -> Sequence[SignatureInfo]:
    """Return the part of the page beyond the oldest listed transaction; empty if the page lacks that transaction."""
    signatures = [info.signature for info in page]
    return page[signatures.index(account.listed_to) + 1 :] if account.listed_to in signatures else ()


def _behind(account: FollowedAccount, page: Sequence[SignatureInfo]) -> Sequence[SignatureInfo]:
    """Return the part of the page beyond the oldest listed transaction.

    Raises NodeUnavailableError if the page lacks it. An empty page comes from a node that lags or prunes, and another
    node may continue. Another page comes from an index that has changed meanwhile, and the listing is restarted.
    """
    if not _meets(account, page):
        if page:
            followed_accounts.restart_listing(account)
        raise NodeUnavailableError(
            f"chain {account.chain_id}: its node lists {account.address} without transactions of another page"
        )
    return _older(account, page)


def _keep(account: FollowedAccount, page: Sequence[SignatureInfo]) -> None:
    """Store signatures to be read, newest first; stored ones stay unchanged."""
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
