"""What the search boxes of the operators' lists find: what an index has, however large the table is.

Hence whole addresses and hashes, in the form in which they are stored, and texts of tokens by their search entries.
"""

import re
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest

from accounts.admin import user_pages
from accounts.models import PartnerKey
from config.api.fields import parse_address, parse_transaction_hash
from tokens.catalogue import text_search
from tokens.chains.addresses import address_key
from tokens.installation.installed_chains import registry
from tokens.models import SearchEntry, SignedTransaction, Token, TokenEvent


class IndexedSearch:
    """A list whose search is `match`; Django's own `search_fields` only tell it to show the box."""

    def match(self, text: str) -> Q:
        """What the text finds, which is not empty and has no blanks around it."""
        raise NotImplementedError

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """The rows, and whether some may be there twice."""
        text = search_term.strip()
        return queryset.filter(self.match(text)) if text else queryset, False


def tokens_named(text: str) -> Q:
    """Tokens by whole address, pool or hash; any other text, by part of their name or symbol."""
    exact = text_search.exact_match(text)
    if exact is not None:
        return exact
    return Q(pk__in=SearchEntry.objects.filter(text_search.indexed_entry_match(text)).values("token"))


def of_transaction(text: str) -> Q:
    """Requests or events of a transaction, by its whole hash or signature."""
    try:
        tx_hash = parse_transaction_hash(text, allow_signature=True)
    except ValueError:
        # No transaction has it.
        tx_hash = text
    return _on_any_chain() & Q(tx_hash=tx_hash)


def events_of(text: str) -> Q:
    """Events of a token, by its address, or of a transaction."""
    address = _address(text)
    if address is None:
        return of_transaction(text)
    return Q(token__in=list(Token.objects.filter(contract_address=address).values_list("pk", flat=True)))


def claims_of(text: str) -> Q:
    """Fees that a recipient was paid, by its address, or that a transaction paid."""
    address = _address(text)
    if address is None:
        return Q(event__in=list(TokenEvent.objects.filter(of_transaction(text)).values_list("pk", flat=True)))
    return _on_any_chain() & Q(recipient=address)


def saved_of(text: str) -> Q:
    """Tokens that users saved, by their address, their transaction, or the user's FID."""
    address, people = _address(text), user_pages.with_fid(text)
    if address is not None:
        return Q(contract_address=address)
    return of_transaction(text) if people is None else Q(person__in=people)


def documents_of(text: str) -> Q:
    """Documents of a token, by its address, or else by a part of its name or symbol."""
    return Q(token__in=Token.objects.filter(tokens_named(text)).values("pk"))


def of_chain(text: str) -> Q:
    """Rows of the chain with this id, or of those whose name has this part."""
    named = [chain_id for chain_id, chain in registry().chains.items() if text.lower() in chain.name.lower()]
    number = _number(text)
    return Q(chain_id__in=named if number is None else [*named, number])


def coverage_of(text: str) -> Q:
    """Coverage of a contract, by its address, or of a chain."""
    address = _address(text)
    return of_chain(text) if address is None else Q(addresses__contains=[address_key(address)])


def accounts_of(text: str) -> Q:
    """The account with this address on any chain."""
    return _on_any_chain() & Q(address=text)


def alarms_of(text: str) -> Q:
    """Alarms of a block, by its number, or of a transaction."""
    number = _number(text)
    if number is not None:
        return Q(first_block__lte=number, last_block__gte=number)
    try:
        return Q(tx_hashes__contains=[parse_transaction_hash(text)])
    except ValueError:
        return Q(tx_hashes__contains=[text])


def deployments_of(text: str) -> Q:
    """Deployments of a token, by its address, of a transaction, by the hash of any version, or of a request key."""
    address = _address(text)
    if address is not None:
        return Q(expected_address=address)
    try:
        tx_hash = parse_transaction_hash(text)
    except ValueError:
        # Partners are named because the index begins with them.
        partners = list(PartnerKey.objects.values_list("pk", flat=True))
        return Q(request_key=text) & (Q(partner_key__in=partners) | Q(partner_key__isnull=True))
    versions = SignedTransaction.objects.filter(tx_hash=tx_hash)
    return Q(pk__in=list(versions.values_list("attempt__deployment", flat=True)))


def wallets_of(text: str) -> Q:
    """The wallets with an address, or those of a chain."""
    address = _address(text)
    return of_chain(text) if address is None else Q(address=address)


def _on_any_chain() -> Q:
    """Said because the indexes begin with the chain."""
    return Q(chain_id__in=list(registry().chains))


def _number(text: str) -> int | None:
    """A whole number that PostgreSQL's integers hold."""
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None


def _address(text: str) -> str | None:
    try:
        return parse_address(text, allow_mint=True)
    except ValueError:
        return None
