"""Admin for documents that describe tokens off-chain."""

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from config.operators.admin_pages import QueueStateFilter, ServiceWrittenAdmin, list_action, log_changes
from tokens.admin.indexed_search import IndexedSearch, match_rows_of_tokens
from tokens.admin.token_events import token_link
from tokens.indexing.documents import fetching
from tokens.models import TokenDocument


@admin.register(TokenDocument)
class TokenDocumentAdmin(IndexedSearch, ServiceWrittenAdmin):
    empty_text = (
        "No document yet: launches on Solana name them; set RPC_URLS_<chainId> for Solana, and run manage.py follow."
    )
    list_display = ("short_uri", "linked_token", "status", "attempts", "last_error", "due_at", "fetched_at")
    list_select_related = ("token",)
    list_filter = ("status", QueueStateFilter)
    search_fields = ("token",)
    search_help_text = "A whole token address, or part of a token's name or symbol."
    ordering = ("-token",)
    actions = ("fetch_again",)
    match = staticmethod(match_rows_of_tokens)

    def get_fields(self, request: HttpRequest, obj: object = None) -> list[str]:
        plain = [field.name for field in TokenDocument._meta.fields if field.name not in ("token", "content")]
        return ["linked_token", *plain, "parsed_content"]

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> list[str]:
        return self.get_fields(request, obj)

    @admin.display(description="URI")
    def short_uri(self, document: TokenDocument) -> str:
        return document.uri[:80]

    @admin.display(description="token")
    def linked_token(self, document: TokenDocument) -> str:
        return token_link(document.token)

    @admin.display(description="content")
    def parsed_content(self, document: TokenDocument) -> Any:
        """Return the parsed content as name: value."""
        return ", ".join(f"{name}: {value}" for name, value in document.content.items()) or "nothing yet"

    @list_action("Fetch again")
    def fetch_again(self, request: HttpRequest, documents: QuerySet[TokenDocument]) -> None:
        """Reset the documents so that they are fetched again; their current content is used until then."""
        self.message_user(request, f"{reopen_documents(request, documents)} to be fetched.", messages.SUCCESS)


def reopen_documents(request: HttpRequest, documents: QuerySet[TokenDocument]) -> int:
    """Reset documents so that they are fetched again, log the change in their history, and return their number."""
    with transaction.atomic():
        rows = list(documents.order_by("pk").select_for_update(no_key=True))
        count = fetching.reopen_documents(rows)
        log_changes(request, rows, "fetch again")
    return count
