"""Admin for airdrops and allow-lists that partners have saved: read-only entries, and a confirmed deletion."""

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django_filters import ChoiceFilter
from unfold.decorators import action

from config.operators.admin_pages import (
    AdminFilterSet,
    BoundedPaginator,
    ReadOnlyAdmin,
    confirmation_page,
    get_row_or_404,
)
from tokens.admin.indexed_search import IndexedSearch, match_saved_trees
from tokens.deploying.saved_airdrops import delete_trees
from tokens.models import SavedTree, TreeKind

# The first entries by account; a tree may have 100,000.
_ENTRIES_SHOWN = 100
_BROKEN = {
    TreeKind.AIRDROP: (
        "From then on its accounts get no proofs and amounts here, for any token with an airdrop of the root {root}; "
        "their claims on the chain need the proofs."
    ),
    TreeKind.ALLOWLIST: (
        "From then on its buyers get no proofs here, for any presale with an allow-list of the root {root}; "
        "they can't buy without them."
    ),
}


class SavedTreeFilterSet(AdminFilterSet):
    """Filter by kind."""

    kind = ChoiceFilter(label="kind", choices=TreeKind.choices)


@admin.register(SavedTree)
class SavedTreeAdmin(IndexedSearch, ReadOnlyAdmin):
    empty_text = "No airdrop or allow-list yet: partners save them by POST /api/airdrops and /api/presales/allowlists."
    paginator = BoundedPaginator
    list_display = ("root", "kind", "partner_key", "number_of_entries", "created_at")
    list_select_related = ("partner_key",)
    list_filter = (*SavedTreeFilterSet.list_filters(), "partner_key")
    search_fields = ("root",)
    search_help_text = "A whole root, a token's address, or part of a partner's name."
    ordering = ("-id",)
    fields = ("kind", "partner_key", "root", "amount", "number_of_entries", "created_at", "first_entries")
    actions_row = ("remove_this",)
    actions_detail = ("remove_this",)
    match = staticmethod(match_saved_trees)

    def get_queryset(self, request: HttpRequest) -> QuerySet[SavedTree]:
        rows: QuerySet[SavedTree] = super().get_queryset(request)
        return rows.defer("nodes")

    def has_remove_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Return whether the user may delete trees. Only the confirmed action deletes; it reads no entries."""
        return request.user.has_perm("tokens.delete_savedtree")

    @admin.display(description="entries", ordering="entry_count")
    def number_of_entries(self, tree: SavedTree) -> str:
        return f"{tree.entry_count:,}"

    @admin.display(description="first entries")
    def first_entries(self, tree: SavedTree) -> str:
        """Return the first entries by account: address and wei."""
        entries = tree.entries.order_by("account").values_list("account", "amount")[:_ENTRIES_SHOWN]
        rows = format_html_join("", "<li>{}: {} wei</li>", ((account, int(wei)) for account, wei in entries))
        more = max(0, tree.entry_count - _ENTRIES_SHOWN)
        return format_html("<ul>{}</ul>{}", rows, f"and {more:,} more" if more else "")

    @action(description="Delete", permissions=["remove"], url_path="remove", icon="delete")
    def remove_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Delete one tree after a confirmation page that states the consequences."""
        tree: SavedTree = get_row_or_404(self, request, object_id)
        if request.method != "POST":
            return confirmation_page(
                self, request, row=tree, title=f"Delete: {tree}", text=_describe_loss(tree), button="Yes, delete it"
            )
        with transaction.atomic():
            self.log_deletions(request, [tree])
            delete_trees(SavedTree.objects.filter(pk=tree.pk))
        self.message_user(request, f"{tree} deleted.", messages.SUCCESS)
        return redirect(reverse("admin:tokens_savedtree_changelist"))


def _describe_loss(tree: SavedTree) -> str:
    others = SavedTree.objects.filter(root=tree.root).exclude(pk=tree.pk).count()
    if others:
        return f"Proofs stay available: other keys have saved the same entries ({others})."
    text = _BROKEN[TreeKind(tree.kind)].format(root=tree.root)
    return f"{text} The partner {tree.partner_key} can save the same {tree.entry_count:,} entries again."
