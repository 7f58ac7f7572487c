"""Base classes and helpers of admin pages: read-only rows, filters, limited selections, confirmation pages."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django_filters import FilterSet
from unfold.admin import ModelAdmin

from config.queue import LeasedQuerySet, QueueState

# An action locks its rows, writes a history line for each and may enqueue each, all in one transaction.
MAX_ACTION_ROWS = 1_000


class ServiceWrittenAdmin(ModelAdmin):
    """Admin of rows that only the service creates and deletes."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class ReadOnlyAdmin(ServiceWrittenAdmin):
    """Admin of read-only rows."""

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class AdminFilterSet(FilterSet):
    """Base of filter sets for admin lists; each filter is a ChoiceFilter, and its label is the filter's title."""

    @classmethod
    def list_filters(cls) -> tuple[type[admin.SimpleListFilter], ...]:
        """Return the filters for `list_filter` of an admin page."""
        return tuple(
            type(name, (_ChoiceListFilter,), {"title": choice.label, "parameter_name": name, "filter_set": cls})
            for name, choice in cls.base_filters.items()
        )


class _ChoiceListFilter(admin.SimpleListFilter):
    """One choice of a filter set. A value that is no choice filters nothing."""

    filter_set: type[AdminFilterSet]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        choices = self.filter_set.base_filters[self.parameter_name].field.choices
        return [(value, label) for value, label in choices if value]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        found: QuerySet[Any] = self.filter_set({self.parameter_name: self.value()}, queryset).qs
        return found


class QueueStateFilter(admin.SimpleListFilter):
    """Filter of the rows of a leased queue by their state."""

    title = "queue"
    parameter_name = "queue"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        return [
            (state.name.lower(), state.capitalize())
            for state in QueueState
            if state is not QueueState.GIVEN_UP or model_admin.model.GIVEN_UP
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        if value not in dict(self.lookup_choices) or not isinstance(queryset, LeasedQuerySet):
            return queryset
        return queryset.in_state(QueueState[value.upper()], timezone.now())


def selected_rows(model_admin: ModelAdmin, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any] | None:
    """Return the selected rows of an action in primary-key order, the lock order of all writers.

    None if there are more than MAX_ACTION_ROWS; the operator gets a message.
    """
    chosen = list(rows.order_by().values_list("pk", flat=True)[: MAX_ACTION_ROWS + 1])
    if len(chosen) > MAX_ACTION_ROWS:
        text = (
            f"Nothing was done: an action takes at most {MAX_ACTION_ROWS:,} rows at a time. Choose fewer by a filter."
        )
        model_admin.message_user(request, text, messages.ERROR)
        return None
    found: QuerySet[Any] = rows.model._default_manager.filter(pk__in=chosen).order_by("pk")
    return found


def log_changes(request: HttpRequest, rows: Iterable[Any], message: str) -> None:
    """Write a history line for each row, all in one query."""
    # An anonymous visitor can't start an action.
    LogEntry.objects.log_actions(request.user.pk, rows, CHANGE, message)  # type: ignore[arg-type]


def get_row_or_404(model_admin: ModelAdmin, request: HttpRequest, object_id: str) -> Any:
    """Return the row of an action's page; the decorator has checked permissions. Raises Http404."""
    row = model_admin.get_object(request, object_id)
    if row is None:
        raise Http404
    return row


def hide_actions(context: dict[str, Any], *names: str) -> None:
    """Remove actions from the head of a row's page; a name is the last part of the action's path."""
    shown = context.get("actions_detail", [])
    context["actions_detail"] = [action for action in shown if action["path"].split("/")[-2] not in names]


def change_url(row: Any) -> str:
    """Return the URL of a row's page."""
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def confirmation_page(
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
    """Return a confirmation page of an action, which posts to its own URL.

    `row` is its object; cancelling leads to its page, or to `back`. `hidden` is posted along with the form.
    """
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "original": row,
        "title": title,
        "text": text,
        "button": button,
        "back": back or change_url(row),
        "form": form,
        "hidden": list(hidden),
    }
    return TemplateResponse(request, "operators/confirm.html", context)
