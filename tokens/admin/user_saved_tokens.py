"""The operators' page for tokens that users say they have launched."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from accounts.admin import user_pages
from config.operators.admin_pages import ReadRows
from tokens.admin.chain_progress import OnAChain
from tokens.admin.indexed_search import IndexedSearch, saved_of
from tokens.admin.list_filters import ChainFilter
from tokens.models import SavedState, SavedToken


class SavedStateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[Any]:
        return list(SavedState.choices)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset.filter(state=value) if value in SavedState.values else queryset


@admin.register(SavedToken)
class SavedTokenAdmin(OnAChain, IndexedSearch, ReadRows):
    list_display = ("contract_address", "user", "chain", "status", "chain_says", "tx_hash", "created_at")
    list_filter = (ChainFilter, SavedStateFilter)
    search_fields = ("contract_address", "tx_hash")
    search_help_text = "A whole address or transaction hash, or a user's FID."
    ordering = ("-id",)
    fields = ("contract_address", "user", "chain", "tx_hash", "created_at", "status", "chain_says")

    def match(self, text: str) -> Q:
        return saved_of(text)

    def get_queryset(self, request: HttpRequest) -> QuerySet[SavedToken]:
        rows: Any = super().get_queryset(request)
        found: QuerySet[SavedToken] = rows.select_related("person__linked_to").with_state().with_findings()
        return found

    @admin.display(description="user", ordering="person")
    def user(self, saved: SavedToken) -> str:
        return user_pages.shown(saved.person)

    @admin.display(description="state")
    def status(self, saved: SavedToken) -> str:
        return str(SavedState(saved.state).label)

    @admin.display(description="what the chain says")
    def chain_says(self, saved: SavedToken) -> str:
        """What the transaction launched; where that is nothing, why it is not indexed."""
        return ", ".join(saved.launched) or saved.trouble or ""
