"""What pages of the operators' site have in common: rows that nobody writes by hand, and questions before an act."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.admin import ModelAdmin

# An action locks its rows, writes a line of history for each and may enqueue each, all in one transaction.
MOST_ROWS = 1_000


class WrittenRows(ModelAdmin):
    """Rows that the service writes: nobody adds or deletes them by hand."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class ReadRows(WrittenRows):
    """Rows that are only looked at."""

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


def choose(model_admin: ModelAdmin, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any] | None:
    """The rows that an action of a list is for, in the order in which all writers lock them: by primary key.

    None where there are more than MOST_ROWS, of which who asked is told.
    """
    chosen = list(rows.order_by().values_list("pk", flat=True)[: MOST_ROWS + 1])
    if len(chosen) > MOST_ROWS:
        text = f"Nothing was done: an action takes at most {MOST_ROWS:,} rows at a time. Choose fewer by a filter."
        model_admin.message_user(request, text, messages.ERROR)
        return None
    found: QuerySet[Any] = rows.model._default_manager.filter(pk__in=chosen).order_by("pk")
    return found


def note(request: HttpRequest, rows: Iterable[Any], message: str) -> None:
    """Leave the line in the history of each row, all at once."""
    # A visitor without an account has no way to an action.
    LogEntry.objects.log_actions(request.user.pk, rows, CHANGE, message)  # type: ignore[arg-type]


def find_row(model_admin: ModelAdmin, request: HttpRequest, object_id: str) -> Any:
    """The row that a page of an action is about; the action's decorator has checked permissions. Raises Http404."""
    row = model_admin.get_object(request, object_id)
    if row is None:
        raise Http404
    return row


def without_actions(context: dict[str, Any], *names: str) -> None:
    """Leave actions out of the head of a row's page; a name is the last part of the action's path."""
    shown = context.get("actions_detail", [])
    context["actions_detail"] = [action for action in shown if action["path"].split("/")[-2] not in names]


def change_page(row: Any) -> str:
    """The address of a row's page."""
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def ask(
    model_admin: ModelAdmin,
    request: HttpRequest,
    *,
    title: str,
    text: str,
    button: str,
    back: str = "",
    row: Any = None,
    form: forms.Form | None = None,
    hidden: Iterable[tuple[str, str]] = (),
) -> TemplateResponse:
    """A page that asks before something is done, and posts the answer to its own address.

    `row` is what it is about; who answers no gets to its page, or to `back`. `hidden` is posted along with the form.
    """
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "original": row,
        "title": title,
        "text": text,
        "button": button,
        "back": back or change_page(row),
        "form": form,
        "hidden": list(hidden),
    }
    return TemplateResponse(request, "operators/ask.html", context)
