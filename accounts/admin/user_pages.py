"""Admin pages for users and social profiles, and labels for row owners in other admin pages."""

import re
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from unfold.admin import TabularInline

from accounts.models import Identity, Person, SocialProfile
from config.operators.admin_pages import QueueAdmin, ReadOnlyAdmin

_FID = re.compile("[0-9]{1,18}")


class IdentityInline(TabularInline):
    """The user's identities."""

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
class PersonAdmin(ReadOnlyAdmin):
    """Read-only admin pages for users: the first request with a token creates the row."""

    empty_text = (
        "No user yet: set FARCASTER_AUTH_DOMAINS, PRIVY_APP_ID or OIDC_ISSUERS; "
        "the first request with a valid token of an issuer adds its user."
    )
    list_display = ["id", "fid", "linked_to", "linked_until", "created_at", "last_seen_at"]
    fields = ("fid", "linked_to", "linked_until", "told_at", "created_at", "last_seen_at")
    list_select_related = ("linked_to",)
    search_fields = ["=fid", "=identities__subject"]
    search_help_text = "A whole FID, or the subject of a token."
    ordering = ("-id",)
    inlines = (IdentityInline,)


def owner_label(owner: Person) -> str:
    """Return the user's name, with the linked user if a link is valid now; reads `linked_to`."""
    is_linked = owner.linked_until is not None and owner.linked_until > timezone.now()
    return f"{owner}, linked to {owner.linked_to}" if is_linked else str(owner)


def owner_ids_by_fid(text: str) -> list[int] | None:
    """Return the ids: the user with this FID, and the user linked to it now; None if the text is no FID."""
    if not _FID.fullmatch(text):
        return None
    person_ids = list(Person.objects.filter(fid=int(text)).values_list("pk", flat=True))
    linked = Person.objects.filter(linked_to__in=person_ids, linked_until__gt=timezone.now())
    return person_ids + list(linked.values_list("pk", flat=True))


@admin.register(SocialProfile)
class SocialProfileAdmin(QueueAdmin):
    """Read-only admin pages for social profiles, which come from the provider."""

    empty_text = (
        "No profile yet: set SOCIAL_API_KEY or FARCASTER_HUB_URL; then the first launch of a FID adds its profile."
    )
    list_display = ["fid", "username", "display_name", "score", "fetched_at", "due_at", "attempts", "last_error"]
    search_fields = ["=fid", "=username"]
    search_help_text = "A whole FID or user name."
    ordering = ["-fid"]
