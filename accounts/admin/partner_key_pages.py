"""The operators' pages for partner keys: issued, edited, rotated and revoked. A key's text is shown once, when made."""

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from unfold.admin import ModelAdmin
from unfold.decorators import action
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from accounts.keys import credentials, usage
from accounts.models import KeyState, PartnerKey, PartnerKeyQuerySet, PartnerKeySecret, Scope
from config.operators.admin_pages import ask, change_page, find_row, without_actions
from config.operators.dashboard import Chart

if TYPE_CHECKING:
    PartnerKeyModelForm = forms.ModelForm[PartnerKey]
else:
    # Django's own class takes no type parameter when it runs.
    PartnerKeyModelForm = forms.ModelForm


# What a key's state leaves no use for.
_USELESS = {KeyState.REVOKED: ("rotate", "revoke"), KeyState.EXPIRED: ("rotate",)}
_DAYS_SHOWN = 14
# A PartnerKey with its `days` of calls.
ShownKey = Any


class PartnerKeyForm(PartnerKeyModelForm):
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices, widget=UnfoldAdminCheckboxSelectMultipleWidget, initial=[Scope.READ, Scope.INDEX]
    )

    class Meta:
        model = PartnerKey
        fields = ["name", "scopes", "expires_at", "calls_per_minute"]

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
class PartnerKeyAdmin(ModelAdmin):
    form = PartnerKeyForm
    list_display = ["name", "scope_names", "key_ids", "created_at", "expires_at", "last_used_at", "state_label"]
    list_filter = [StateFilter, ScopeFilter]
    search_fields = ["name", "secrets__key_id"]
    search_help_text = f"Name, or the eight characters after {credentials.PREFIX}. Don't paste whole keys here."
    list_per_page = 50
    actions_detail = ["rotate", "revoke"]

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

    @admin.display(description="calls by day (UTC)")
    def calls_by_day(self, key: ShownKey) -> str:
        """The last two weeks; those of the last minute are not stored yet."""
        bars = tuple((f"{day.day:%d %b}", day.calls) for day in key.days)
        chart = Chart(title="Calls by day, UTC", bars=bars, start=bars[0][0], end="today")
        return render_to_string("operators/chart.html", {"chart": chart})

    @admin.display(description="calls by endpoint")
    def calls_by_endpoint(self, key: ShownKey) -> str:
        """Of the same days, the busiest first."""
        rows = format_html_join("", "<li>{}: {}</li>", ((name, f"{calls:,}") for name, calls in key.endpoints))
        return format_html("<ul>{}</ul>", rows) if rows else "none"

    def get_queryset(self, request: HttpRequest) -> QuerySet[PartnerKey]:
        newest_first = PartnerKeySecret.objects.order_by("-id")
        listed: QuerySet[PartnerKey] = super().get_queryset(request)
        return listed.prefetch_related(Prefetch("secrets", newest_first))

    def get_fields(self, request: HttpRequest, obj: PartnerKey | None = None) -> list[Any]:
        editable = ["name", "scopes", "expires_at", "calls_per_minute"]
        return editable if obj is None else [*editable, *self.get_readonly_fields(request, obj)]

    def get_readonly_fields(self, request: HttpRequest, obj: PartnerKey | None = None) -> list[str]:
        shown = [
            "state_label",
            "key_ids",
            "created_at",
            "revoked_at",
            "last_used_at",
            "calls_by_day",
            "calls_by_endpoint",
        ]
        return [] if obj is None else shown

    def has_delete_permission(self, request: HttpRequest, obj: PartnerKey | None = None) -> bool:
        """Nobody: a key is revoked instead, so that what was done with it stays attributable."""
        return False

    def save_model(self, request: HttpRequest, obj: PartnerKey, form: Any, change: bool) -> None:
        # Only what the operator edited is written: the row as it was read may be older than a revocation.
        obj.save(update_fields=form.changed_data if change else None)

    def response_add(self, request: HttpRequest, obj: PartnerKey, post_url_continue: str | None = None) -> HttpResponse:
        """The page that shows the new key, within the transaction that made its row."""
        return self._show(request, obj, text=credentials.add_secret(obj), title="Partner key issued")

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Any = None, **options: Any
    ) -> Any:
        """With the calls, which lines read several times, and without the actions that the state leaves no use for."""
        if obj:
            obj.days, obj.endpoints = usage.requests_of(obj, days=_DAYS_SHOWN)
            without_actions(context, *_USELESS.get(obj.state, ()))
        return super().render_change_form(request, context, *args, obj=obj, **options)

    @action(description="Rotate", permissions=["change"], icon="autorenew")
    def rotate(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """GET asks; POST adds a secret and shows the new key."""
        key = find_row(self, request, object_id)
        if request.method != "POST":
            text = (
                f"A new key is made for {key} and shown once. The newest key until now stays valid beside it; any "
                f"older one is refused from then on. Key ids now: {self.key_ids(key) or 'none'}."
            )
            return ask(self, request, row=key, title="Rotate partner key", text=text, button="Yes, rotate it")
        try:
            with transaction.atomic():
                text = credentials.rotate(key)
                self.log_change(request, key, "Rotated.")
        except credentials.KeyNotActive as error:
            messages.error(request, f"{error}, so it can't be rotated.")
            return redirect(change_page(key))
        return self._show(request, key, text=text, title="Partner key rotated")

    @action(description="Revoke", permissions=["change"], icon="block", variant=ActionVariant.DANGER)
    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """GET asks; POST revokes the key for good."""
        key = find_row(self, request, object_id)
        if request.method != "POST":
            text = (
                f"Every key of {key} is refused from now on. This can't be undone. "
                f"Key ids: {self.key_ids(key) or 'none'}."
            )
            return ask(self, request, row=key, title="Revoke partner key", text=text, button="Yes, revoke it")
        with transaction.atomic():
            if credentials.revoke(key):
                self.log_change(request, key, "Revoked.")
        messages.success(request, f"The key of {key} is revoked.")
        return redirect(change_page(key))

    def _show(self, request: HttpRequest, key: PartnerKey, *, text: str, title: str) -> HttpResponse:
        # The text goes into this one answer: no message, session or address keeps it. No cache does, since the admin
        # site marks all its pages no-store.
        page = {"opts": self.opts, "original": key, "title": title, "text": text}
        return TemplateResponse(request, "operators/key_issued.html", self.admin_site.each_context(request) | page)
