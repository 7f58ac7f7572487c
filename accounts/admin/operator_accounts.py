"""Admin pages for operator accounts, roles and the audit log."""

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.utils.html import format_html
from django_otp.plugins.otp_totp.models import TOTPDevice
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from config.operators.admin_pages import ListedAdmin, ReadOnlyAdmin

admin.site.unregister(User)
admin.site.unregister(Group)
# django-otp's own pages show secrets, and create devices that their owner has never seen.
admin.site.unregister(TOTPDevice)


@admin.register(User)
class OperatorAdmin(UserAdmin, ListedAdmin):
    empty_text = "No account yet: manage.py createsuperuser makes the first one."
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm


@admin.register(Group)
class RoleAdmin(GroupAdmin, ListedAdmin):
    empty_text = "No role yet: manage.py migrate makes the roles support and operator; add others here."


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnlyAdmin):
    """Admin page for the audit log: an entry for every add, change, deletion and action; newest first, read-only.

    Entries can't be deleted either. Django then refuses to delete an account with entries; it is made inactive
    instead.
    """

    empty_text = "No entry yet: each add, change, deletion and action on these pages writes one."
    list_display = ["action_time", "user", "action_flag", "kind", "row", "message"]
    list_display_links = ["action_time"]
    list_select_related = ["user", "content_type"]
    list_filter = [("user", admin.RelatedOnlyFieldListFilter), "action_flag", "action_time"]
    search_fields = ["object_repr", "change_message", "user__username", "=object_id"]
    search_help_text = "Part of a row's name, of a message or of an operator's name, or a row's whole id."
    ordering = ["-id"]
    fields = ["action_time", "user", "action_flag", "kind", "row", "object_id", "message"]

    @admin.display(description="kind")
    def kind(self, entry: LogEntry) -> str:
        return entry.content_type.name if entry.content_type else ""

    @admin.display(description="row")
    def row(self, entry: LogEntry) -> str:
        """Return the row's name, linked to its page if there is one."""
        page = None if entry.is_deletion() else entry.get_admin_url()
        return (
            format_html('<a class="text-link" href="{}">{}</a>', page, entry.object_repr) if page else entry.object_repr
        )

    @admin.display(description="message")
    def message(self, entry: LogEntry) -> str:
        return entry.get_change_message()
