"""Admin for tokens that users saved as their launches."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django_filters import ChoiceFilter

from accounts.admin import user_pages
from config.operators.admin_pages import AdminFilterSet, ReadOnlyAdmin
from tokens.admin.chain_progress import ChainColumn
from tokens.admin.indexed_search import IndexedSearch, match_saved_tokens
from tokens.admin.list_filters import ChainFilter
from tokens.models import SavedState, SavedToken


class SavedTokenFilterSet(AdminFilterSet):
    """Filter by state."""

    state = ChoiceFilter(label="state", choices=SavedState.choices)


@admin.register(SavedToken)
class SavedTokenAdmin(ChainColumn, IndexedSearch, ReadOnlyAdmin):
    empty_text = "No saved token yet: users save theirs by POST /api/tokens/save-deployed-token/from-ui."
    list_display = ("contract_address", "user", "chain", "status", "launch_result", "tx_hash", "created_at")
    list_filter = (ChainFilter, *SavedTokenFilterSet.list_filters())
    search_fields = ("contract_address", "tx_hash")
    search_help_text = "A whole address or transaction hash, or a user's FID."
    ordering = ("-id",)
    fields = ("contract_address", "user", "chain", "tx_hash", "created_at", "status", "launch_result")
    match = staticmethod(match_saved_tokens)

    def get_queryset(self, request: HttpRequest) -> QuerySet[SavedToken]:
        rows: Any = super().get_queryset(request)
        saved_tokens: QuerySet[SavedToken] = rows.select_related("person__linked_to").with_state().with_findings()
        return saved_tokens

    @admin.display(description="user", ordering="person")
    def user(self, saved: SavedToken) -> str:
        return user_pages.owner_label(saved.person)

    @admin.display(description="state")
    def status(self, saved: SavedToken) -> str:
        return str(SavedState(saved.state).label)

    @admin.display(description="on the chain")
    def launch_result(self, saved: SavedToken) -> str:
        """Return the tokens that the transaction launched, or why it is not indexed."""
        return ", ".join(saved.launched) or saved.error or ""
