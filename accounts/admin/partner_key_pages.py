"""Admin pages for partner keys: issue, edit, rotate and revoke. A key's text is shown once, at its creation."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django_filters import ChoiceFilter
from unfold.decorators import action
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from accounts.keys import credentials, usage
from accounts.models import KeyState, PartnerKey, PartnerKeyQuerySet, PartnerKeySecret, Scope
from config.operators.admin_pages import (
    AdminFilterSet,
    ListedAdmin,
    change_url,
    confirmation_page,
    get_row_or_404,
    secret_page,
)
from config.operators.dashboard import Chart

# Hidden actions by key state.
_HIDDEN_ACTIONS = {KeyState.REVOKED: ("rotate", "revoke"), KeyState.EXPIRED: ("rotate",)}
_DAYS_SHOWN = 14
# A PartnerKey with its calls by `days` and `endpoints`.
ShownKey = Any


class PartnerKeyForm(forms.ModelForm):
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices, widget=UnfoldAdminCheckboxSelectMultipleWidget, initial=[Scope.READ, Scope.INDEX]
    )

    class Meta:
        model = PartnerKey
        fields = ["name", "scopes", "expires_at", "calls_per_minute"]

    def clean_expires_at(self) -> Any:
        """Reject a past expiry, unless it is the key's current one."""
        expires_at = self.cleaned_data["expires_at"]
        if expires_at and "expires_at" in self.changed_data and expires_at <= timezone.now():
            raise forms.ValidationError("The expiry must be in the future; to reject the key at once, revoke it.")
        return expires_at


class KeyFilterSet(AdminFilterSet):
    """Filters by state and scope."""

    state = ChoiceFilter(label="state", choices=KeyState.choices, method="in_state")
    scope = ChoiceFilter(label="scope", choices=Scope.choices, method="with_scope")

    def in_state(self, keys: PartnerKeyQuerySet, name: str, value: str) -> PartnerKeyQuerySet:
        return keys.in_state(KeyState(value))

    def with_scope(self, keys: PartnerKeyQuerySet, name: str, value: str) -> PartnerKeyQuerySet:
        return keys.filter(scopes__contains=[value])


@admin.register(PartnerKey)
class PartnerKeyAdmin(ListedAdmin):
    empty_text = "No partner key yet: add one, and give the partner what is shown once."
    form = PartnerKeyForm
    list_display = ["name", "scope_names", "key_ids", "created_at", "expires_at", "last_used_at", "state_label"]
    list_filter = KeyFilterSet.list_filters()
    search_fields = ["name", "secrets__key_id"]
    search_help_text = f"Name, or the eight characters after {credentials.PREFIX}. Don't paste whole keys here."
    actions_row = ["rotate", "revoke"]
    actions_detail = ["rotate", "revoke"]

    @admin.display(description="scopes")
    def scope_names(self, key: PartnerKey) -> str:
        return ", ".join(key.scopes)

    @admin.display(description="key ids")
    def key_ids(self, key: PartnerKey) -> str:
        """Return the ids of the secrets that no rotation has retired, newest first."""
        return ", ".join(secret.key_id for secret in key.secrets.all() if secret.is_current)

    @admin.display(description="state")
    def state_label(self, key: PartnerKey) -> str:
        return str(key.state.label)

    @admin.display(description="calls by day (UTC)")
    def calls_by_day(self, key: ShownKey) -> str:
        """Return a chart for the last two weeks; the last minute's calls are not stored yet."""
        bars = tuple((f"{day.day:%d %b}", day.calls) for day in key.days)
        chart = Chart(title="Calls by day, UTC", bars=bars, start=bars[0][0], end="today")
        return render_to_string("operators/chart.html", {"chart": chart})

    @admin.display(description="calls by endpoint")
    def calls_by_endpoint(self, key: ShownKey) -> str:
        """Return the calls on the same days per endpoint, busiest first."""
        rows = format_html_join("", "<li>{}: {}</li>", ((name, f"{calls:,}") for name, calls in key.endpoints))
        return format_html("<ul>{}</ul>", rows) if rows else "none"

    def get_queryset(self, request: HttpRequest) -> QuerySet[PartnerKey]:
        newest_first = PartnerKeySecret.objects.order_by("-id")
        keys: QuerySet[PartnerKey] = super().get_queryset(request)
        return keys.prefetch_related(Prefetch("secrets", newest_first))

    def get_fields(self, request: HttpRequest, obj: PartnerKey | None = None) -> list[Any]:
        editable = ["name", "scopes", "expires_at", "calls_per_minute"]
        return editable if obj is None else [*editable, *self.get_readonly_fields(request, obj)]

    def get_readonly_fields(self, request: HttpRequest, obj: PartnerKey | None = None) -> list[str]:
        field_names = [
            "state_label",
            "key_ids",
            "created_at",
            "revoked_at",
            "last_used_at",
            "calls_by_day",
            "calls_by_endpoint",
        ]
        return [] if obj is None else field_names

    def has_delete_permission(self, request: HttpRequest, obj: PartnerKey | None = None) -> bool:
        """Forbid deletion: a key is revoked instead, so that its past calls stay attributable."""
        return False

    def save_model(self, request: HttpRequest, obj: PartnerKey, form: Any, change: bool) -> None:
        # Only edited fields are written: the row read by the form may be older than a revocation.
        obj.save(update_fields=form.changed_data if change else None)

    def response_add(self, request: HttpRequest, obj: PartnerKey, post_url_continue: str | None = None) -> HttpResponse:
        """Show the new key, within the transaction that created its row."""
        return self._show(request, obj, text=credentials.add_secret(obj), title="Partner key issued")

    def useless_actions(self, row: PartnerKey) -> tuple[str, ...]:
        return _HIDDEN_ACTIONS.get(row.state, ())

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        """Load the calls once for several fields."""
        if obj := options.get("obj"):
            obj.days, obj.endpoints = usage.calls_of_key(obj, days=_DAYS_SHOWN)
        return super().render_change_form(request, context, *args, **options)

    @action(description="Rotate", permissions=["change"], icon="autorenew")
    def rotate(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show a confirmation page; on POST add a secret and show the new key."""
        key = get_row_or_404(self, request, object_id)
        if request.method != "POST":
            text = (
                f"A new key for {key} is created and shown once. The current key stays valid beside it; any older one "
                f"is rejected from then on. Key ids now: {self.key_ids(key) or 'none'}."
            )
            return confirmation_page(
                self, request, row=key, title="Rotate partner key", text=text, button="Yes, rotate it"
            )
        try:
            with transaction.atomic():
                text = credentials.rotate_key(key)
                self.log_change(request, key, "Rotated.")
        except credentials.KeyNotActiveError as error:
            messages.error(request, f"{error}, so it can't be rotated.")
            return redirect(change_url(key))
        return self._show(request, key, text=text, title="Partner key rotated")

    @action(description="Revoke", permissions=["change"], icon="block", variant=ActionVariant.DANGER)
    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show a confirmation page; on POST revoke the key for good."""
        key = get_row_or_404(self, request, object_id)
        if request.method != "POST":
            text = (
                f"Every key of {key} is rejected from now on. This can't be undone. "
                f"Key ids: {self.key_ids(key) or 'none'}."
            )
            return confirmation_page(
                self, request, row=key, title="Revoke partner key", text=text, button="Yes, revoke it"
            )
        with transaction.atomic():
            if credentials.revoke_key(key):
                self.log_change(request, key, "Revoked.")
        messages.success(request, f"The key of {key} is revoked.")
        return redirect(change_url(key))

    def _show(self, request: HttpRequest, key: PartnerKey, *, text: str, title: str) -> HttpResponse:
        usage = "The partner sends it in the header x-api-key."
        return secret_page(self, request, row=key, title=title, label="Partner key", text=text, usage=usage)
