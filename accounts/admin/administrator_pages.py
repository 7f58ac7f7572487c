"""The operators' pages for administrators, who see what nobody else does, and for their sessions."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from unfold.admin import ModelAdmin
from unfold.decorators import action
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminSelectWidget

from accounts.administrators import sessions as administrators
from accounts.models import Administrator, AdminSession
from accounts.users.identity import HIGHEST_FID
from config.operators.admin_pages import WrittenRows, ask, change_page, find_row, without_actions

if TYPE_CHECKING:
    AdministratorModelForm = forms.ModelForm[Administrator]
else:
    # Django's own class takes no type parameter when it runs.
    AdministratorModelForm = forms.ModelForm


class AdministratorForm(AdministratorModelForm):
    class Meta:
        model = Administrator
        fields = ["name", "issuer", "subject"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # An administrator of an issuer that is set no more is shown as it is.
        own = {self.instance.issuer} - {""}
        names = sorted(own.union(issuer.issuer for issuer in settings.IDENTITY_ISSUERS))
        self.fields["issuer"] = forms.ChoiceField(
            choices=[(name, name) for name in names],
            widget=UnfoldAdminSelectWidget,
            help_text="Whose token the person comes with. The settings say which issuers there are.",
        )

    def clean(self) -> dict[str, Any]:
        """Refuse a subject that no token of the issuer has."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        kinds = {issuer.issuer: issuer.subject for issuer in settings.IDENTITY_ISSUERS}
        subject = cleaned.get("subject", "")
        if subject and kinds.get(cleaned.get("issuer", "")) == "fid" and not _is_fid(subject):
            self.add_error("subject", "This issuer's tokens have a FID: a number without blanks or zeros before it.")
        return cleaned


def _is_fid(text: str) -> bool:
    is_number = text.isascii() and text.isdigit() and text[0] != "0" and len(text) < 20
    return is_number and int(text) <= HIGHEST_FID


@admin.register(Administrator)
class AdministratorAdmin(ModelAdmin):
    form = AdministratorForm
    list_display = ["name", "issuer", "subject", "added_at"]
    search_fields = ["name", "subject"]
    list_per_page = 50

    def save_model(self, request: HttpRequest, obj: Administrator, form: Any, change: bool) -> None:
        """Who was this administrator until now is none any more, nor are his sessions."""
        super().save_model(request, obj, form, change)
        if {"issuer", "subject"} & set(form.changed_data):
            obj.sessions.revoke()


@admin.register(AdminSession)
class AdminSessionAdmin(WrittenRows):
    """Sessions of the API's administrators: looked at and revoked. They go with their account or administrator."""

    list_display = ["holder", "state", "created_at", "expires_at", "revoked_at"]
    fields = readonly_fields = ("holder", "state", "created_at", "expires_at", "revoked_at")
    list_select_related = ("user", "administrator")
    search_fields = ("=user__username", "administrator__name")
    search_help_text = "A whole user name, or a part of an administrator's name."
    ordering = ("-id",)
    actions_detail = ["revoke"]

    @admin.display(description="of")
    def holder(self, session: AdminSession) -> str:
        return f"account {session.user}" if session.user else f"administrator {session.administrator}"

    @admin.display(description="state")
    def state(self, session: AdminSession) -> str:
        if session.revoked_at is not None:
            return "revoked"
        if session.expires_at <= timezone.now():
            return "over"
        return "live" if administrators.is_somebodys(session) else "refused"

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Whoever may revoke sessions may delete them with their administrator or account; alone, nobody may."""
        page = request.resolver_match.url_name if request.resolver_match else ""
        return not (page or "").startswith("accounts_adminsession_") and self.has_change_permission(request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[AdminSession]:
        sessions: QuerySet[AdminSession] = super().get_queryset(request)
        return sessions.select_related("user", "administrator")

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Any = None, **options: Any
    ) -> Any:
        """Without the action where there is nothing to revoke."""
        if obj and obj.revoked_at is not None:
            without_actions(context, "revoke")
        return super().render_change_form(request, context, *args, obj=obj, **options)

    @action(description="Revoke", permissions=["change"], icon="block", variant=ActionVariant.DANGER)
    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """GET asks; POST ends the session."""
        session = find_row(self, request, object_id)
        if request.method != "POST":
            text = f"The session of {self.holder(session)} ends at once. A new one can be begun at any time."
            return ask(self, request, row=session, title="Revoke session", text=text, button="Yes, revoke it")
        with transaction.atomic():
            if administrators.revoke(session):
                self.log_change(request, session, "Revoked.")
        messages.success(request, "The session is revoked.")
        return redirect(change_page(session))
