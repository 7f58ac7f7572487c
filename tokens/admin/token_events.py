"""The operators' pages for what happened to tokens after their launch, and for the fees that were paid."""

from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest
from django.utils.html import format_html

from config.operators.admin_pages import ReadRows, change_page
from tokens.admin.indexed_search import IndexedSearch, claims_of, events_of
from tokens.admin.list_filters import ChainFilter
from tokens.models import FeeClaim, Token, TokenEvent


def token_link(token: Token | None) -> str:
    """A link to the token's page, by its symbol."""
    if token is None:
        return "none"
    return format_html('<a class="text-link" href="{}">{}</a>', change_page(token), token.symbol or "(no symbol)")


def arguments_of(event: TokenEvent) -> str:
    """What the event says, as name: value."""
    return ", ".join(f"{name}: {value}" for name, value in event.arguments.items())


@admin.register(TokenEvent)
class TokenEventAdmin(IndexedSearch, ReadRows):
    list_display = ["at", "kind", "of_token", "chain_id", "tx_hash", "log_index"]
    list_select_related = ["token"]
    list_filter = ["kind", ChainFilter]
    search_fields = ["tx_hash", "token__contract_address"]
    search_help_text = "A whole transaction hash or token address."
    ordering = ["-id"]

    def match(self, text: str) -> Q:
        return events_of(text)

    def get_fields(self, request: HttpRequest, obj: object = None) -> list[str]:
        plain = [field.name for field in TokenEvent._meta.fields if field.name not in ("token", "arguments")]
        return ["of_token", *plain, "says"]

    @admin.display(description="token")
    def of_token(self, event: TokenEvent) -> str:
        return token_link(event.token)

    @admin.display(description="arguments")
    def says(self, event: TokenEvent) -> str:
        return arguments_of(event)


@admin.register(FeeClaim)
class FeeClaimAdmin(IndexedSearch, ReadRows):
    list_display = ["at", "recipient", "currency", "amount", "chain_id", "by_event"]
    list_select_related = ["event"]
    list_filter = [ChainFilter]
    search_fields = ["recipient", "event__tx_hash"]
    search_help_text = "A whole transaction hash or address of a recipient."
    ordering = ["-id"]
    fields = ["at", "recipient", "currency", "amount", "chain_id", "by_event"]

    def match(self, text: str) -> Q:
        return claims_of(text)

    @admin.display(description="event")
    def by_event(self, claim: FeeClaim) -> Any:
        return format_html('<a class="text-link" href="{}">{}</a>', change_page(claim.event), claim.event.tx_hash)
