"""The operators' view of tokens and index requests. What the chain says is read only; tags and retries are theirs."""

from functools import partial
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from tokens import indexing, tasks
from tokens.models import IndexRequest, Token

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    # Django's own class takes no type parameter when it runs.
    ModelAdmin = admin.ModelAdmin

TAGS = ("champagne", "verified", "blocked")


class ChainFactsAdmin(ModelAdmin):
    """Rows that the service writes: nobody adds or deletes them by hand."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(Token)
class TokenAdmin(ChainFactsAdmin):
    list_display = ("symbol", "name", "contract_address", "chain_id", "generation", "deployed_at", *TAGS)
    list_display_links = ("symbol", "contract_address")
    list_filter = ("chain_id", "generation", *TAGS, "unindexed")
    search_fields = ("name", "symbol", "contract_address__iexact", "pool_address__iexact", "tx_hash__iexact")
    search_help_text = "Part of a name or symbol, or a whole address, pool or transaction hash."
    # By the primary key: the index on the block time knows listed tokens only.
    ordering = ("-id",)
    actions = ("block", "unblock", "add_champagne", "remove_champagne")

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> list[str]:
        return [field.name for field in Token._meta.fields if field.name not in TAGS]

    def save_model(self, request: HttpRequest, obj: Token, form: Any, change: bool) -> None:
        # Only the tags that the operator changed: the row as it was read may be older than a reorg or a refresh.
        obj.save(update_fields=form.changed_data)

    @admin.action(description="Block: leave out of public lists", permissions=["change"])
    def block(self, request: HttpRequest, tokens: QuerySet[Token]) -> None:
        self._tag(request, tokens, "blocked", True)

    @admin.action(description="Unblock", permissions=["change"])
    def unblock(self, request: HttpRequest, tokens: QuerySet[Token]) -> None:
        self._tag(request, tokens, "blocked", False)

    @admin.action(description="Give champagne", permissions=["change"])
    def add_champagne(self, request: HttpRequest, tokens: QuerySet[Token]) -> None:
        self._tag(request, tokens, "champagne", True)

    @admin.action(description="Take champagne away", permissions=["change"])
    def remove_champagne(self, request: HttpRequest, tokens: QuerySet[Token]) -> None:
        self._tag(request, tokens, "champagne", False)

    def _tag(self, request: HttpRequest, tokens: QuerySet[Token], tag: str, value: bool) -> None:
        """Set one tag, and leave a line in each token's history for whom it matters to later."""
        with transaction.atomic():
            changed = list(tokens.exclude(**{tag: value}).select_for_update())
            tokens.filter(pk__in=[token.pk for token in changed]).update(**{tag: value})
            for token in changed:
                self.log_change(request, token, f"{tag} = {value}")
        self.message_user(request, f"{len(changed)} changed.", messages.SUCCESS)


@admin.register(IndexRequest)
class IndexRequestAdmin(ChainFactsAdmin):
    list_display = ("tx_hash", "chain_id", "status", "attempts", "last_error", "due_at", "updated_at")
    list_filter = ("status", "chain_id")
    search_fields = ("tx_hash__iexact",)
    search_help_text = "A whole transaction hash."
    ordering = ("-id",)
    actions = ("retry",)

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> list[str]:
        return [field.name for field in IndexRequest._meta.fields]

    @admin.action(description="Index again", permissions=["change"])
    def retry(self, request: HttpRequest, requests: QuerySet[IndexRequest]) -> None:
        """Put the requests back to the start, and enqueue them."""
        chosen = list(requests)
        with transaction.atomic():
            for chain_id, tx_hash in indexing.reopen(chosen):
                transaction.on_commit(partial(tasks.enqueue, chain_id, tx_hash))
            for index_request in chosen:
                self.log_change(request, index_request, "index again")
        self.message_user(request, f"{len(chosen)} enqueued.", messages.SUCCESS)
