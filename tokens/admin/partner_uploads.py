"""Admin for partners' uploads: operators find a file by its digest, and block it."""

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from unfold.decorators import action
from unfold.enums import ActionVariant

from config.http.errors import PermanentError
from config.operators.admin_pages import ServiceWrittenAdmin, confirm_action, list_action, log_changes
from tokens.admin.indexed_search import IndexedSearch
from tokens.indexing.documents.fetching import installed_urls
from tokens.models import Upload
from tokens.uploads.stored_uploads import allow_uploads, block_uploads

# Each blocked upload may need a call to the storage, and a response has a deadline.
_MAX_BLOCKED = 50
_BLOCK_TEXT = (
    "The file is deleted, and the same bytes are refused from now on. Browsers and caches that have it may show it for "
    "longer. On IPFS only the pin is removed: copies of other nodes stay."
)


def match_uploads(text: str) -> Q:
    """Match uploads by digest, also within a whole URL."""
    return Q(digest=text.rpartition("/")[2].partition(".")[0].lower()) | Q(url=text)


@admin.register(Upload)
class UploadAdmin(IndexedSearch, ServiceWrittenAdmin):
    empty_text = "No upload yet: set UPLOAD_STORAGE; partners send POST /api/uploads/pictures and /metadata."
    list_display = ("digest", "partner_key", "kind", "storage", "size", "created_at", "blocked_at")
    list_select_related = ("partner_key",)
    list_filter = ("kind", "storage", ("blocked_at", admin.EmptyFieldListFilter))
    search_fields = ("digest",)
    search_help_text = "A whole digest (SHA-256 in hex), or a whole URL."
    ordering = ("-id",)
    actions = ("block", "allow")
    actions_detail = ("block_this", "allow_this")
    fields = readonly_fields = (
        *("digest", "partner_key", "kind", "storage", "size", "stored_file", "created_at", "blocked_at"),
    )
    match = staticmethod(match_uploads)

    def useless_actions(self, row: Upload) -> tuple[str, ...]:
        return () if row.blocked_at else ("allow",)

    @admin.display(description="URL")
    def stored_file(self, upload: Upload) -> str:
        """Return a link to the file, on IPFS by IPFS_GATEWAY_URL; without a gateway, the URL as text."""
        try:
            target = installed_urls(upload.url)[0]
        except PermanentError:
            return upload.url
        link = '<a class="text-link" href="{}" rel="noopener noreferrer" target="_blank">{}</a>'
        return format_html(link, target, upload.url)

    @list_action("Block: delete the file, and refuse it from now on")
    def block(self, request: HttpRequest, uploads: QuerySet[Upload]) -> None:
        """Block uploads. For an upload that is blocked already, retry the file's deletion if it failed."""
        selected = list(uploads[: _MAX_BLOCKED + 1])
        if len(selected) > _MAX_BLOCKED:
            self.message_user(request, f"Nothing was done: choose at most {_MAX_BLOCKED} uploads.", messages.ERROR)
            return
        undeleted = block_uploads(selected)
        log_changes(request, selected, "block")
        self.message_user(request, f"{len(selected)} blocked.", messages.SUCCESS)
        if undeleted:
            text = f"Files that the storage did not delete: {len(undeleted)}. Block them again once it responds."
            self.message_user(request, text, messages.WARNING)

    @list_action("Allow again: forget blocked uploads")
    def allow(self, request: HttpRequest, uploads: QuerySet[Upload]) -> None:
        blocked = list(uploads.exclude(blocked_at=None))
        log_changes(request, blocked, "allow again")
        allow_uploads(blocked)
        self.message_user(request, f"{len(blocked)} may be uploaded again.", messages.SUCCESS)

    @action(description="Block", permissions=["change"], url_path="block", icon="block", variant=ActionVariant.DANGER)
    def block_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return confirm_action(self, request, object_id, self.block, text=_BLOCK_TEXT, button="Block")

    @action(description="Allow again", permissions=["change"], url_path="allow", icon="check")
    def allow_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        text = "Its row is deleted, so that a partner can upload the same file again."
        return confirm_action(self, request, object_id, self.allow, text=text)
