"""The operators' page for the documents that describe tokens outside of the chain."""

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from config.operators.admin_pages import WrittenRows, choose, note
from tokens.admin.indexed_search import IndexedSearch, documents_of
from tokens.admin.token_events import token_link
from tokens.indexing.documents import fetching
from tokens.models import TokenDocument


@admin.register(TokenDocument)
class TokenDocumentAdmin(IndexedSearch, WrittenRows):
    list_display = ("uri_begins", "of_token", "status", "attempts", "last_error", "due_at", "fetched_at")
    list_select_related = ("token",)
    list_filter = ("status",)
    search_fields = ("token",)
    search_help_text = "A whole token address, or part of a token's name or symbol."
    ordering = ("-token",)
    actions = ("fetch_again",)

    def match(self, text: str) -> Q:
        return documents_of(text)

    def get_fields(self, request: HttpRequest, obj: object = None) -> list[str]:
        plain = [field.name for field in TokenDocument._meta.fields if field.name not in ("token", "content")]
        return ["of_token", *plain, "says"]

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> list[str]:
        return self.get_fields(request, obj)

    @admin.display(description="URI")
    def uri_begins(self, document: TokenDocument) -> str:
        return document.uri[:80]

    @admin.display(description="token")
    def of_token(self, document: TokenDocument) -> str:
        return token_link(document.token)

    @admin.display(description="says")
    def says(self, document: TokenDocument) -> Any:
        """What was taken from it, as name: value."""
        return ", ".join(f"{name}: {value}" for name, value in document.content.items()) or "nothing yet"

    @admin.action(description="Fetch again", permissions=["change"])
    def fetch_again(self, request: HttpRequest, chosen: QuerySet[TokenDocument]) -> None:
        """Have the documents fetched from the start; what they said holds until then."""
        rows = choose(self, request, chosen)
        if rows is not None:
            self.message_user(request, f"{reopen(request, rows)} to be fetched.", messages.SUCCESS)


def reopen(request: HttpRequest, chosen: QuerySet[TokenDocument]) -> int:
    """Have documents fetched again, and leave a line in their history; how many."""
    with transaction.atomic():
        rows = list(chosen.order_by("pk").select_for_update(no_key=True))
        count = fetching.reopen(rows)
        note(request, rows, "fetch again")
    return count
