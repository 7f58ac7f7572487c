"""Admin for tokens and for the market-data provider's refresh queue.

On-chain data is read-only; operators set tags and index again.
"""

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.decorators import action
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminTextareaWidget

from config.operators.admin_pages import (
    QueueAdmin,
    ServiceWrittenAdmin,
    change_url,
    confirm_action,
    confirmation_page,
    get_row_or_404,
    list_action,
    log_changes,
)
from tokens.admin.index_queue import reopen_requests
from tokens.admin.indexed_search import IndexedSearch, match_rows_of_tokens, match_tokens
from tokens.admin.list_filters import ChainFilter, GenerationFilter, LaunchpadFilter
from tokens.admin.token_events import token_link
from tokens.admin.token_fields import fieldsets, read_facts, read_only_fields
from tokens.models import IndexRequest, ProviderRefresh, Token
from tokens.site.pictures.picture_files import remove_picture
from tokens.site.pictures.wanted_pictures import picture_key

TAGS = ("champagne", "verified", "blocked")
# Tags that are editable on the page. Blocking requires a reason and has its own page.
_EDITED = ("champagne", "verified")
_BLOCKED_TEXT = (
    "Public lists, searches and trending pools exclude it from now on. Partners still get it by its address, marked as "
    "blocked. The reason is stored in the audit log and shown on the token's page here."
)


class ReasonForm(forms.Form):
    """Form for a block's reason."""

    reason = forms.CharField(max_length=500, widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}))


@admin.register(Token)
class TokenAdmin(IndexedSearch, ServiceWrittenAdmin):
    empty_text = (
        "No token yet: set RPC_URLS_<chainId> and run manage.py follow; POST /api/tokens/index reads one transaction."
    )
    list_display = ("symbol", "name", "contract_address", "chain_id", "generation", "deployed_at", *TAGS)
    list_display_links = ("symbol", "contract_address")
    list_filter = (ChainFilter, LaunchpadFilter, GenerationFilter, *TAGS, "unindexed")
    search_fields = ("name", "symbol", "contract_address", "pool_address", "tx_hash")
    search_help_text = "Part of a name or symbol, or a whole address, pool or transaction hash."
    # By primary key: the index on the block time covers only listed tokens.
    ordering = ("-id",)
    actions = (
        "block",
        "unblock",
        "add_champagne",
        "remove_champagne",
        "verify",
        "unverify",
        "reindex",
    )
    actions_row = ("block_this", "unblock_this")
    actions_detail = ("block_this", "unblock_this", "reindex_this")
    match = staticmethod(match_tokens)

    def get_fieldsets(self, request: HttpRequest, obj: Token | None = None) -> list[tuple[str, dict[str, Any]]]:
        return fieldsets()

    def get_readonly_fields(self, request: HttpRequest, obj: Token | None = None) -> list[Any]:
        return read_only_fields(editable=_EDITED)

    def save_model(self, request: HttpRequest, obj: Token, form: Any, change: bool) -> None:
        # Only the changed tags: the form's other columns may be older than a reorg or a refresh.
        obj.save(update_fields=form.changed_data)

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> str:
        """Return the history entry, in the format of the actions."""
        return ", ".join(f"{name} = {form.cleaned_data[name]}" for name in form.changed_data)

    def useless_actions(self, row: Token) -> tuple[str, ...]:
        return ("block",) if row.blocked else ("unblock",)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        """Render the page with the token's facts."""
        token = options["obj"]
        token.facts = read_facts(token)
        return super().render_change_form(request, context, *args, **options)

    @list_action("Block: leave out of public lists")
    def block(self, request: HttpRequest, tokens: QuerySet[Token]) -> HttpResponse | None:
        """Block tokens after a form for the reason, which submits the same selection."""
        form = ReasonForm(request.POST if "reason" in request.POST else None)
        if form.is_valid():
            self._tag(request, tokens, "blocked", True, reason=form.cleaned_data["reason"])
            return None
        names = ("action", "select_across", "index", ACTION_CHECKBOX_NAME)
        selection = [(name, value) for name in names for value in request.POST.getlist(name)]
        return self._ask_reason(request, form, count=tokens.count(), back=request.get_full_path(), hidden=selection)

    @list_action("Unblock")
    def unblock(self, request: HttpRequest, tokens: QuerySet[Token]) -> None:
        self._tag(request, tokens, "blocked", False)

    @list_action("Give champagne")
    def add_champagne(self, request: HttpRequest, tokens: QuerySet[Token]) -> None:
        self._tag(request, tokens, "champagne", True)

    @list_action("Take champagne away")
    def remove_champagne(self, request: HttpRequest, tokens: QuerySet[Token]) -> None:
        self._tag(request, tokens, "champagne", False)

    @list_action("Verify")
    def verify(self, request: HttpRequest, tokens: QuerySet[Token]) -> None:
        self._tag(request, tokens, "verified", True)

    @list_action("Take verification away")
    def unverify(self, request: HttpRequest, tokens: QuerySet[Token]) -> None:
        self._tag(request, tokens, "verified", False)

    @list_action("Index again")
    def reindex(self, request: HttpRequest, tokens: QuerySet[Token]) -> None:
        """Index the tokens' transactions again; the tokens stay listed meanwhile.

        A token without an index request, such as sample data, was never read from a chain.
        """
        selected = list(tokens)
        requests = IndexRequest.objects.for_transactions((token.chain_id, token.tx_hash) for token in selected)
        with transaction.atomic():
            reopened = {(opened.chain_id, opened.tx_hash) for opened in reopen_requests(request, requests)}
            again = [token for token in selected if (token.chain_id, token.tx_hash) in reopened]
            log_changes(request, again, "index again")
        if reopened:
            self.message_user(request, f"{len(reopened)} enqueued.", messages.SUCCESS)
        if skipped_count := len(selected) - len(again):
            text = f"Skipped, without an index request: {skipped_count}."
            self.message_user(request, text if reopened else f"Nothing enqueued. {text}", messages.WARNING)

    @action(description="Block", permissions=["change"], url_path="block", icon="block", variant=ActionVariant.DANGER)
    def block_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Block one token after a form for the reason."""
        token = get_row_or_404(self, request, object_id)
        form = ReasonForm(request.POST or None)
        if request.method != "POST" or not form.is_valid():
            return self._ask_reason(request, form, count=1, row=token)
        self._tag(request, Token.objects.filter(pk=token.pk), "blocked", True, reason=form.cleaned_data["reason"])
        return redirect(change_url(token))

    @action(description="Unblock", permissions=["change"], url_path="unblock", icon="check")
    def unblock_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        text = "Public lists, searches and trending pools include it again."
        return confirm_action(self, request, object_id, self.unblock, text=text)

    @action(description="Index again", permissions=["change"], url_path="reindex", icon="refresh")
    def reindex_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        text = "Its transaction is read from the chain again."
        return confirm_action(self, request, object_id, self.reindex, text=text)

    def _ask_reason(self, request: HttpRequest, form: ReasonForm, *, count: int, **page: Any) -> HttpResponse:
        title = "Block this token" if count == 1 else f"Block {count} tokens"
        return confirmation_page(self, request, form=form, title=title, text=_BLOCKED_TEXT, button="Block", **page)

    def _tag(self, request: HttpRequest, tokens: QuerySet[Token], tag: str, value: bool, *, reason: str = "") -> None:
        """Set one tag on the tokens, and log the change in each token's history."""
        with transaction.atomic():
            # Without `no_key` the lock would block inserts of the token's events, too.
            changed = list(tokens.exclude(**{tag: value}).select_for_update(no_key=True))
            Token.objects.filter(pk__in=[token.pk for token in changed]).update(**{tag: value})
            log_changes(request, changed, f"{tag} = {value}" + (f": {reason}" if reason else ""))
            if tag == "blocked" and value:
                transaction.on_commit(lambda: _remove_pictures(changed))
        self.message_user(request, f"{len(changed)} changed.", messages.SUCCESS)


def _remove_pictures(tokens: list[Token]) -> None:
    for token in tokens:
        remove_picture(picture_key(token.img_url))


@admin.register(ProviderRefresh)
class ProviderRefreshAdmin(IndexedSearch, QueueAdmin):
    """Admin for market-data provider refreshes, with the last refresh's data."""

    empty_text = (
        "No refresh yet: only tokens of chains in MARKET_PROVIDER_CHAINS have market data of the outside provider."
    )
    list_display = ("linked_token", "price_usd", "updated_at", "due_at", "attempts", "last_error")
    list_display_links = ("due_at",)
    list_select_related = ("token__market",)
    search_fields = ("token",)
    search_help_text = "A whole token address, or part of a token's name or symbol."
    ordering = ("-pk",)
    match = staticmethod(match_rows_of_tokens)

    @admin.display(description="token")
    def linked_token(self, refresh: ProviderRefresh) -> str:
        return token_link(refresh.token)

    @admin.display
    def price_usd(self, refresh: ProviderRefresh) -> float | None:
        return refresh.token.market.price_usd

    @admin.display
    def updated_at(self, refresh: ProviderRefresh) -> datetime | None:
        return refresh.token.market.updated_at
