"""The operators' pages for users."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.admin import TabularInline

from accounts.models import Identity, Person
from config.operators.admin_pages import ReadRows


class IdentityInline(TabularInline):
    """What the user comes with."""

    model = Identity
    fields = readonly_fields = ("issuer", "subject", "kind", "created_at")
    ordering = ("pk",)
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Person)
class PersonAdmin(ReadRows):
    """Who has come with a token: nobody adds, changes or deletes users by hand."""

    list_display = ["id", "fid", "linked_to", "linked_until", "created_at", "last_seen_at"]
    fields = ("fid", "linked_to", "linked_until", "told_at", "created_at", "last_seen_at")
    list_select_related = ("linked_to",)
    search_fields = ["=fid", "=identities__subject"]
    search_help_text = "A whole FID, or the subject of a token."
    ordering = ("-id",)
    inlines = (IdentityInline,)
