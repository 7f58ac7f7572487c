"""Admin pages for API administrators and their sessions."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from unfold.decorators import action
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminSelectWidget

from accounts.administrators.sessions import is_holder_valid, revoke_session
from accounts.models import Administrator, AdminSession
from accounts.users.identity import HIGHEST_FID
from config.operators.admin_pages import (
    ListedAdmin,
    ServiceWrittenAdmin,
    change_url,
    confirmation_page,
    get_row_or_404,
)


class AdministratorForm(forms.ModelForm):
    class Meta:
        model = Administrator
        fields = ["name", "issuer", "subject"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Administrators are shown even after the settings lost their issuer.
        current_issuer = {self.instance.issuer} - {""}
        names = sorted(current_issuer.union(issuer.issuer for issuer in settings.IDENTITY_ISSUERS))
        self.fields["issuer"] = forms.ChoiceField(
            choices=[(name, name) for name in names],
            widget=UnfoldAdminSelectWidget,
            help_text="Issuer of the administrator's tokens; the settings define the issuers.",
        )

    def clean(self) -> dict[str, Any]:
        """Reject a subject that none of the issuer's tokens can have."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        kinds = {issuer.issuer: issuer.subject for issuer in settings.IDENTITY_ISSUERS}
        subject = values.get("subject", "")
        if subject and kinds.get(values.get("issuer", "")) == "fid" and not _is_fid(subject):
            self.add_error("subject", "This issuer's tokens have a FID: a number without blanks or leading zeros.")
        return values


def _is_fid(text: str) -> bool:
    is_number = text.isascii() and text.isdigit() and text[0] != "0" and len(text) < 20
    return is_number and int(text) <= HIGHEST_FID


@admin.register(Administrator)
class AdministratorAdmin(ListedAdmin):
    empty_text = "No administrator yet: add one for each person who may read scores of the leaderboard."
    form = AdministratorForm
    list_display = ["name", "issuer", "subject", "added_at"]
    search_fields = ["name", "subject"]

    def save_model(self, request: HttpRequest, obj: Administrator, form: Any, change: bool) -> None:
        """Save the administrator, and revoke its sessions if it now is another identity."""
        super().save_model(request, obj, form, change)
        if {"issuer", "subject"} & set(form.changed_data):
            obj.sessions.revoke()


@admin.register(AdminSession)
class AdminSessionAdmin(ServiceWrittenAdmin):
    """Admin pages for administrator sessions: read and revoke. Rows are deleted with their account or administrator."""

    empty_text = "No session yet: one starts when an administrator logs in by POST /api/admin/verify."
    list_display = ["holder", "state", "created_at", "expires_at", "revoked_at"]
    fields = readonly_fields = ("holder", "state", "created_at", "expires_at", "revoked_at")
    list_select_related = ("user", "administrator")
    search_fields = ("=user__username", "administrator__name")
    search_help_text = "A whole user name, or a part of an administrator's name."
    ordering = ("-id",)
    actions_detail = ["revoke"]

    @admin.display(description="holder")
    def holder(self, session: AdminSession) -> str:
        return f"account {session.user}" if session.user else f"administrator {session.administrator}"

    @admin.display(description="state")
    def state(self, session: AdminSession) -> str:
        if session.revoked_at is not None:
            return "revoked"
        if session.expires_at <= timezone.now():
            return "expired"
        return "active" if is_holder_valid(session) else "rejected"

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Allow deletion only together with the administrator or account, for users with the permission to revoke."""
        page = request.resolver_match.url_name if request.resolver_match else ""
        return not (page or "").startswith("accounts_adminsession_") and self.has_change_permission(request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[AdminSession]:
        sessions: QuerySet[AdminSession] = super().get_queryset(request)
        return sessions.select_related("user", "administrator")

    def useless_actions(self, row: AdminSession) -> tuple[str, ...]:
        return ("revoke",) if row.revoked_at is not None else ()

    @action(description="Revoke", permissions=["change"], icon="block", variant=ActionVariant.DANGER)
    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show a confirmation page; on POST revoke the session."""
        session = get_row_or_404(self, request, object_id)
        if request.method != "POST":
            text = f"The session of {self.holder(session)} ends at once. A new one can be started at any time."
            return confirmation_page(
                self, request, row=session, title="Revoke session", text=text, button="Yes, revoke it"
            )
        with transaction.atomic():
            if revoke_session(session):
                self.log_change(request, session, "Revoked.")
        messages.success(request, "The session is revoked.")
        return redirect(change_url(session))
