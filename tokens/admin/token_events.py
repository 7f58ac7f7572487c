"""Admin for token events after the launch, and for fee claims."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html

from config.operators.admin_pages import ReadOnlyAdmin, change_url
from tokens.admin.indexed_search import IndexedSearch, match_claims, match_events
from tokens.admin.list_filters import ChainFilter
from tokens.models import FeeClaim, Token, TokenEvent


def token_link(token: Token | None) -> str:
    """Return a link to the token's page, labelled with its symbol."""
    if token is None:
        return "none"
    return format_html('<a class="text-link" href="{}">{}</a>', change_url(token), token.symbol or "(no symbol)")


def format_arguments(event: TokenEvent) -> str:
    """Return the event's arguments as name: value."""
    return ", ".join(f"{name}: {value}" for name, value in event.arguments.items())


@admin.register(TokenEvent)
class TokenEventAdmin(IndexedSearch, ReadOnlyAdmin):
    empty_text = "No event yet: manage.py follow stores the changes of tokens after their launch."
    list_display = ["at", "kind", "linked_token", "chain_id", "tx_hash", "log_index"]
    list_select_related = ["token"]
    list_filter = ["kind", ChainFilter]
    search_fields = ["tx_hash", "token__contract_address"]
    search_help_text = "A whole transaction hash or token address."
    ordering = ["-id"]
    match = staticmethod(match_events)

    def get_fields(self, request: HttpRequest, obj: object = None) -> list[str]:
        plain = [field.name for field in TokenEvent._meta.fields if field.name not in ("token", "arguments")]
        return ["linked_token", *plain, "arguments_text"]

    @admin.display(description="token")
    def linked_token(self, event: TokenEvent) -> str:
        return token_link(event.token)

    @admin.display(description="arguments")
    def arguments_text(self, event: TokenEvent) -> str:
        return format_arguments(event)


@admin.register(FeeClaim)
class FeeClaimAdmin(IndexedSearch, ReadOnlyAdmin):
    empty_text = "No fees paid yet: manage.py follow stores the fees that recipients claim."
    list_display = ["at", "recipient", "currency", "amount", "chain_id", "linked_event"]
    list_select_related = ["event"]
    list_filter = [ChainFilter]
    search_fields = ["recipient", "event__tx_hash"]
    search_help_text = "A whole transaction hash or address of a recipient."
    ordering = ["-id"]
    fields = ["at", "recipient", "currency", "amount", "chain_id", "linked_event"]
    match = staticmethod(match_claims)

    @admin.display(description="event")
    def linked_event(self, claim: FeeClaim) -> Any:
        return format_html('<a class="text-link" href="{}">{}</a>', change_url(claim.event), claim.event.tx_hash)
