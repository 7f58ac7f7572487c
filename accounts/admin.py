"""The operator's pages for partner keys and social profiles.

Keys are issued, edited, rotated and revoked; a key's text is shown once, when made. Profiles are looked at.
"""

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone

from accounts import keys
from accounts.models import KeyState, PartnerKey, PartnerKeyQuerySet, PartnerKeySecret, Scope, SocialProfile

if TYPE_CHECKING:
    PartnerKeyModelForm = forms.ModelForm[PartnerKey]
    PartnerKeyModelAdmin = admin.ModelAdmin[PartnerKey]
    SocialProfileModelAdmin = admin.ModelAdmin[SocialProfile]
else:
    # Django's own classes take no type parameter when they run.
    PartnerKeyModelForm, PartnerKeyModelAdmin = forms.ModelForm, admin.ModelAdmin
    SocialProfileModelAdmin = admin.ModelAdmin


class PartnerKeyForm(PartnerKeyModelForm):
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices, widget=forms.CheckboxSelectMultiple, initial=[Scope.READ, Scope.INDEX]
    )

    class Meta:
        model = PartnerKey
        fields = ["name", "scopes", "expires_at"]

    def clean_expires_at(self) -> Any:
        """Refuse an expiry that has passed, unless it is the one that the key has already."""
        expires_at = self.cleaned_data["expires_at"]
        if expires_at and "expires_at" in self.changed_data and expires_at <= timezone.now():
            raise forms.ValidationError("The expiry must lie in the future; to refuse the key at once, revoke it.")
        return expires_at


class StateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(state.value, str(state.label)) for state in KeyState]

    def queryset(self, request: HttpRequest, queryset: QuerySet[PartnerKey]) -> QuerySet[PartnerKey]:
        value = self.value()
        return cast(PartnerKeyQuerySet, queryset).in_state(KeyState(value)) if value in KeyState.values else queryset


class ScopeFilter(admin.SimpleListFilter):
    title = "scope"
    parameter_name = "scope"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(scope.value, str(scope.label)) for scope in Scope]

    def queryset(self, request: HttpRequest, queryset: QuerySet[PartnerKey]) -> QuerySet[PartnerKey]:
        value = self.value()
        return queryset.filter(scopes__contains=[value]) if value in Scope.values else queryset


@admin.register(PartnerKey)
class PartnerKeyAdmin(PartnerKeyModelAdmin):
    form = PartnerKeyForm
    list_display = ["name", "scope_names", "key_ids", "created_at", "expires_at", "last_used_at", "state_label"]
    list_filter = [StateFilter, ScopeFilter]
    search_fields = ["name", "secrets__key_id"]
    search_help_text = f"Name, or the eight characters after {keys.PREFIX}. Don't paste whole keys here."
    list_per_page = 50
    change_form_template = "accounts/partner_key_change_form.html"

    @admin.display(description="scopes")
    def scope_names(self, key: PartnerKey) -> str:
        return ", ".join(key.scopes)

    @admin.display(description="key ids")
    def key_ids(self, key: PartnerKey) -> str:
        """The ids of the secrets that no rotation has retired, newest first."""
        return ", ".join(secret.key_id for secret in key.secrets.all() if secret.is_current)

    @admin.display(description="state")
    def state_label(self, key: PartnerKey) -> str:
        return str(key.state.label)

    def get_queryset(self, request: HttpRequest) -> QuerySet[PartnerKey]:
        newest_first = PartnerKeySecret.objects.order_by("-id")
        return super().get_queryset(request).prefetch_related(Prefetch("secrets", newest_first))

    def get_fields(self, request: HttpRequest, obj: PartnerKey | None = None) -> list[Any]:
        editable = ["name", "scopes", "expires_at"]
        return editable if obj is None else [*editable, *self.get_readonly_fields(request, obj)]

    def get_readonly_fields(self, request: HttpRequest, obj: PartnerKey | None = None) -> list[str]:
        return [] if obj is None else ["state_label", "key_ids", "created_at", "revoked_at", "last_used_at"]

    def has_delete_permission(self, request: HttpRequest, obj: PartnerKey | None = None) -> bool:
        """Nobody: a key is revoked instead, so that what was done with it stays attributable."""
        return False

    def save_model(self, request: HttpRequest, obj: PartnerKey, form: Any, change: bool) -> None:
        # Only what the operator edited is written: the row as it was read may be older than a revocation.
        obj.save(update_fields=form.changed_data if change else None)

    def response_add(self, request: HttpRequest, obj: PartnerKey, post_url_continue: str | None = None) -> HttpResponse:
        """The page that shows the new key, within the transaction that made its row."""
        return self._show(request, obj, text=keys.add_secret(obj), title="Partner key issued")

    def get_urls(self) -> list[URLPattern]:
        guard = self.admin_site.admin_view
        return [
            path("<int:object_id>/rotate/", guard(self.rotate_view), name="accounts_partnerkey_rotate"),
            path("<int:object_id>/revoke/", guard(self.revoke_view), name="accounts_partnerkey_revoke"),
            *super().get_urls(),
        ]

    def rotate_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """GET asks; POST adds a secret and shows the new key."""
        key = self._changeable(request, object_id)
        if request.method != "POST":
            return self._ask(request, key, title="Rotate partner key", action="rotate")
        try:
            with transaction.atomic():
                text = keys.rotate(key)
                self.log_change(request, key, "Rotated.")
        except keys.KeyNotActive as error:
            messages.error(request, f"{error}, so it can't be rotated.")
            return redirect("admin:accounts_partnerkey_change", key.pk)
        return self._show(request, key, text=text, title="Partner key rotated")

    def revoke_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """GET asks; POST revokes the key for good."""
        key = self._changeable(request, object_id)
        if request.method != "POST":
            return self._ask(request, key, title="Revoke partner key", action="revoke")
        with transaction.atomic():
            if keys.revoke(key):
                self.log_change(request, key, "Revoked.")
        messages.success(request, f"The key of {key} is revoked.")
        return redirect("admin:accounts_partnerkey_change", key.pk)

    def _changeable(self, request: HttpRequest, object_id: int) -> PartnerKey:
        key = get_object_or_404(self.get_queryset(request), pk=object_id)
        if not self.has_change_permission(request, key):
            raise PermissionDenied
        return key

    def _ask(self, request: HttpRequest, key: PartnerKey, *, title: str, action: str) -> HttpResponse:
        context = {**self._page(request, key, title), "action": action, "key_ids": self.key_ids(key)}
        return TemplateResponse(request, "accounts/partner_key_confirm.html", context)

    def _show(self, request: HttpRequest, key: PartnerKey, *, text: str, title: str) -> HttpResponse:
        # The text goes into this one answer: no message, session or address keeps it. No cache does, since the admin
        # site marks all its pages no-store.
        context = {**self._page(request, key, title), "text": text}
        return TemplateResponse(request, "accounts/partner_key_issued.html", context)

    def _page(self, request: HttpRequest, key: PartnerKey, title: str) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts, "key": key, "title": title}


@admin.register(SocialProfile)
class SocialProfileAdmin(SocialProfileModelAdmin):
    """What the provider tells: nobody adds, changes or deletes it by hand."""

    list_display = ["fid", "username", "display_name", "score", "fetched_at", "due_at", "misses"]
    search_fields = ["=fid", "=username"]
    search_help_text = "A whole FID or user name."
    ordering = ["-fid"]
    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: SocialProfile | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: SocialProfile | None = None) -> bool:
        return False
