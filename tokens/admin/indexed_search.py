"""Index-backed search conditions for admin lists, fast on tables of any size.

They match whole addresses and hashes in their stored form, and token texts by their search entries.
"""

import re
from collections.abc import Callable
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest

from accounts.admin import user_pages
from accounts.models import PartnerKey
from tokens.catalogue import text_search
from tokens.chains.addresses import address_key, parse_address, parse_transaction_hash
from tokens.deploying.rules.saved_trees import merkle_root
from tokens.deploying.token_airdrops import ROOT_ON_CHAIN
from tokens.installation.installed_registry import registry
from tokens.models import SearchEntry, SignedTransaction, Token, TokenEvent


class IndexedSearch:
    """Admin mixin that searches by `match`; Django's own `search_fields` only enable the search box."""

    # Returns the condition for a search text, which is trimmed and not empty.
    match: Callable[[str], Q]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Return the matching rows, and whether they may contain duplicates."""
        text = search_term.strip()
        return queryset.filter(self.match(text)) if text else queryset, False


def match_tokens(text: str) -> Q:
    """Match tokens by whole address, pool or hash, or by part of their name or symbol."""
    exact = text_search.exact_match(text)
    if exact is not None:
        return exact
    return Q(pk__in=SearchEntry.objects.filter(text_search.indexed_entry_match(text)).values("token"))


def match_transaction(text: str) -> Q:
    """Match a transaction's rows, by its whole hash or signature."""
    try:
        tx_hash = parse_transaction_hash(text, allow_signature=True)
    except ValueError:
        # The text matches no transaction.
        tx_hash = text
    return _on_any_chain() & Q(tx_hash=tx_hash)


def match_events(text: str) -> Q:
    """Match events by their token's address, or by transaction."""
    address = _address(text)
    if address is None:
        return match_transaction(text)
    return Q(token__in=list(Token.objects.filter(contract_address=address).values_list("pk", flat=True)))


def match_claims(text: str) -> Q:
    """Match fee claims by their recipient's address, or by transaction."""
    address = _address(text)
    if address is None:
        return Q(event__in=list(TokenEvent.objects.filter(match_transaction(text)).values_list("pk", flat=True)))
    return _on_any_chain() & Q(recipient=address)


def match_saved_tokens(text: str) -> Q:
    """Match saved tokens by their address, their transaction, or the user's FID."""
    address, people = _address(text), user_pages.owner_ids_by_fid(text)
    if address is not None:
        return Q(contract_address=address)
    return match_transaction(text) if people is None else Q(person__in=people)


def match_saved_trees(text: str) -> Q:
    """Match saved trees by their root, by a token airdrop's root, or by part of a partner's name."""
    address = _address(text)
    if address is not None:
        roots = Token.objects.filter(contract_address=address).values_list(ROOT_ON_CHAIN, flat=True)
        return Q(root__in=[root for root in roots if root])
    try:
        return Q(root=merkle_root(text))
    except ValueError:
        return Q(partner_key__in=list(PartnerKey.objects.filter(name__icontains=text).values_list("pk", flat=True)))


def match_rows_of_tokens(text: str) -> Q:
    """Match rows by their token's address, or by part of its name or symbol."""
    return Q(token__in=Token.objects.filter(match_tokens(text)).values("pk"))


def match_chain(text: str) -> Q:
    """Match rows by their chain's id, or by part of its name."""
    chain_ids = [chain_id for chain_id, chain in registry().chains.items() if text.lower() in chain.name.lower()]
    number = _number(text)
    return Q(chain_id__in=chain_ids if number is None else [*chain_ids, number])


def match_coverage(text: str) -> Q:
    """Match coverage by contract address or by chain."""
    address = _address(text)
    return match_chain(text) if address is None else Q(addresses__contains=[address_key(address)])


def match_accounts(text: str) -> Q:
    """Match the account with this address on any chain."""
    return _on_any_chain() & Q(address=text)


def match_alarms(text: str) -> Q:
    """Match alarms by block number or by transaction."""
    number = _number(text)
    if number is not None:
        return Q(first_block__lte=number, last_block__gte=number)
    try:
        return Q(tx_hashes__contains=[parse_transaction_hash(text)])
    except ValueError:
        return Q(tx_hashes__contains=[text])


def match_deployments(text: str) -> Q:
    """Match deployments by token address, by any signed version's transaction hash, or by request key."""
    address = _address(text)
    if address is not None:
        return Q(expected_address=address)
    try:
        tx_hash = parse_transaction_hash(text)
    except ValueError:
        # All partners are listed because the index begins with the partner.
        partners = list(PartnerKey.objects.values_list("pk", flat=True))
        return Q(request_key=text) & (Q(partner_key__in=partners) | Q(partner_key__isnull=True))
    versions = SignedTransaction.objects.filter(tx_hash=tx_hash)
    return Q(pk__in=list(versions.values_list("attempt__deployment", flat=True)))


def match_wallets(text: str) -> Q:
    """Match wallets by address or by chain."""
    address = _address(text)
    return match_chain(text) if address is None else Q(address=address)


def _on_any_chain() -> Q:
    """Match all registry chains, because the indexes begin with the chain."""
    return Q(chain_id__in=list(registry().chains))


def _number(text: str) -> int | None:
    """Parse a whole number within PostgreSQL's bigint."""
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None


def _address(text: str) -> str | None:
    try:
        return parse_address(text, allow_mint=True)
    except ValueError:
        return None
