"""Admin for followed Solana accounts and their progress."""

from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest

from config.operators.admin_pages import ReadOnlyAdmin
from tokens.admin.chain_progress import ChainColumn
from tokens.admin.indexed_search import IndexedSearch, match_accounts
from tokens.admin.list_filters import ChainFilter
from tokens.installation.installed_registry import registry
from tokens.models import FollowedAccount, ListedSignature

_ROLES = {"launch_config": "config", "launch_creator": "creator"}


@admin.register(FollowedAccount)
class FollowedAccountAdmin(ChainColumn, IndexedSearch, ReadOnlyAdmin):
    empty_text = "No account yet: set RPC_URLS_<chainId> for Solana, and run manage.py follow."
    list_display = ("address", "chain", "role", "state", "complete_to", "oldest_unread", "updated_at")
    list_filter = (ChainFilter,)
    search_fields = ("address",)
    search_help_text = "The whole address of an account."
    ordering = ("-pk",)
    match = staticmethod(match_accounts)

    def get_queryset(self, request: HttpRequest) -> QuerySet[FollowedAccount]:
        unread = ListedSignature.objects.filter(account=OuterRef("pk"), read=False).order_by("slot", "-pk")
        rows: QuerySet[FollowedAccount] = super().get_queryset(request)
        return rows.annotate(unread_slot=Subquery(unread.values("slot")[:1]))

    def get_fields(self, request: HttpRequest, obj: object = None) -> list[str]:
        plain = [field.name for field in FollowedAccount._meta.fields]
        return ["chain", "role", "state", *plain, "oldest_unread"]

    @admin.display(description="role")
    def role(self, account: FollowedAccount) -> str:
        """Return the account's role in the registry, which has no pools."""
        chain = registry().chains.get(account.chain_id)
        role = chain.role(account.address) if chain else None
        return _ROLES.get(role or "", "pool, or a former account")

    @admin.display(description="state")
    def state(self, account: Any) -> str:
        if account.listed and account.unread_slot is not None:
            return "being read"
        return "up to date" if account.listing_slot is None else "being listed"

    @admin.display(description="next slot to be read")
    def oldest_unread(self, account: Any) -> int | None:
        """Return the slot with the oldest listed transaction that is not read yet."""
        slot: int | None = account.unread_slot
        return slot
