"""Admin for index requests and pool backlogs."""

from functools import partial

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from unfold.decorators import action

from config.operators.admin_pages import (
    QueueStateFilter,
    ServiceWrittenAdmin,
    confirm_action,
    list_action,
    log_changes,
)
from tokens.admin.indexed_search import IndexedSearch, match_rows_of_tokens, match_transaction
from tokens.admin.list_filters import ChainFilter
from tokens.admin.token_events import token_link
from tokens.indexing import index_requests, tasks
from tokens.models import IndexRequest, PoolBacklog


@admin.register(IndexRequest)
class IndexRequestAdmin(IndexedSearch, ServiceWrittenAdmin):
    empty_text = "No request yet: callers request transactions by POST /api/tokens/index, and users save theirs."
    list_display = ("tx_hash", "chain_id", "status", "attempts", "last_error", "due_at", "updated_at")
    list_filter = ("status", QueueStateFilter, "undecodable", ChainFilter)
    search_fields = ("tx_hash",)
    search_help_text = "A whole transaction hash."
    ordering = ("-id",)
    actions = ("retry",)
    actions_row = ("retry_this",)
    actions_detail = ("retry_this",)
    match = staticmethod(match_transaction)

    def get_fields(self, request: HttpRequest, obj: object = None) -> list[str]:
        return self.get_readonly_fields(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> list[str]:
        return [*(field.name for field in IndexRequest._meta.fields), "launched"]

    @admin.display(description="launched")
    def launched(self, index_request: IndexRequest) -> str:
        """Return a link to the transaction's tokens."""
        page = reverse("admin:tokens_token_changelist")
        return format_html(
            '<a class="text-link" href="{}?q={}">Tokens of this transaction</a>', page, index_request.tx_hash
        )

    @list_action("Index again")
    def retry(self, request: HttpRequest, requests: QuerySet[IndexRequest]) -> None:
        """Reset the requests and enqueue them."""
        self.message_user(request, f"{len(reopen_requests(request, requests))} enqueued.", messages.SUCCESS)

    @action(description="Index again", permissions=["change"], url_path="retry", icon="refresh")
    def retry_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Index one transaction again after a confirmation page."""
        text = "The transaction is read from the chain again, as if it were requested for the first time."
        return confirm_action(self, request, object_id, self.retry, text=text)


def reopen_requests(request: HttpRequest, requests: QuerySet[IndexRequest]) -> list[IndexRequest]:
    """Reset index requests, log the change in their history, enqueue them and return them."""
    with transaction.atomic():
        reopened = list(requests.order_by("pk").select_for_update(no_key=True))
        for chain_id, tx_hash in index_requests.reopen_requests(reopened):
            transaction.on_commit(partial(tasks.enqueue_index_request, chain_id, tx_hash))
        log_changes(request, reopened, "index again")
    return reopened


@admin.register(PoolBacklog)
class PoolBacklogAdmin(IndexedSearch, ServiceWrittenAdmin):
    empty_text = (
        "No backlog: all trades of indexed tokens are read, apart from final blocks before a token was indexed, which"
        " manage.py backfill --trades reads."
    )
    list_display = ("linked_token", "next_block", "attempts", "last_error", "due_at")
    list_select_related = ("token",)
    list_filter = (QueueStateFilter,)
    search_fields = ("token",)
    search_help_text = "A whole token address, or part of a token's name or symbol."
    ordering = ("-token",)
    actions = ("read_now",)
    match = staticmethod(match_rows_of_tokens)

    def get_fields(self, request: HttpRequest, obj: object = None) -> list[str]:
        return self.get_readonly_fields(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> list[str]:
        return ["linked_token", *(field.name for field in PoolBacklog._meta.fields if field.name != "token")]

    @admin.display(description="token")
    def linked_token(self, backlog: PoolBacklog) -> str:
        return token_link(backlog.token)

    @list_action("Read now")
    def read_now(self, request: HttpRequest, backlogs: QuerySet[PoolBacklog]) -> None:
        """Make the next round read the backlogs, without the delay after failures."""
        with transaction.atomic():
            rows = list(backlogs.order_by("pk").select_for_update(no_key=True))
            PoolBacklog.objects.filter(pk__in=[row.pk for row in rows]).requeue(due_at=timezone.now())
            log_changes(request, rows, "read now")
        self.message_user(request, f"{len(rows)} to be read.", messages.SUCCESS)
