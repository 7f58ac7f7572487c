"""Base classes and helpers for admin pages: read-only rows, filters, limited selections, confirmation pages."""

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, TypeVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import flatten_fieldsets
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import models, transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django_filters import FilterSet
from unfold.admin import ModelAdmin

from config.operators.neutral_pages import list_columns
from config.operators.row_links import action_name
from config.operators.time_fields import LocalDateTimeField, LocalDateTimeWidget
from config.postgresql.leased_queue import LeasedQuerySet, QueueState

# An action locks its rows, writes a history line for each and may enqueue each, all in one transaction.
MAX_ACTION_ROWS = 1_000
# An action shows this many refusals one by one.
_MAX_REFUSALS = 5
_ID = re.compile("[0-9]{1,18}")

Row = TypeVar("Row")
# A list action: the admin page, the request and the selected rows.
ListAction = Callable[[Any, HttpRequest, QuerySet[Any]], HttpResponse | None]


class BoundedPaginator(Paginator):
    """Paginator that counts, and has pages for, at most `max_rows`: for tables of any size."""

    max_rows = 10_000

    @cached_property
    def count(self) -> int:
        """Return the number of rows with a page."""
        rows: Any = self.object_list
        number: int = rows.order_by()[: self.max_rows].count()
        return number


class ListedAdmin(ModelAdmin):
    """Base for all admin pages."""

    list_per_page = 50
    # One sentence on a list without rows: what fills it, and where that is set up.
    empty_text: str
    formfield_overrides: ClassVar[Mapping["type[models.Field[Any, Any]]", Mapping[str, Any]]] = {
        models.DateTimeField: {"form_class": LocalDateTimeField, "widget": LocalDateTimeWidget}
    }

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Return the list; a value that PostgreSQL's texts can't have is refused like any invalid filter."""
        if any("\0" in value for values in request.GET.lists() for value in values[1]):
            raise IncorrectLookupParameters
        return super().get_changelist_instance(request)

    def get_list_display(self, request: HttpRequest) -> Any:
        """Return the columns; others' texts can't deceive in them, or fill a page."""
        return list_columns(self.model, super().get_list_display(request))

    def get_list_display_links(self, request: HttpRequest, list_display: Any) -> Any:
        """Return the columns in `get_list_display` that are links."""
        return list_columns(self.model, super().get_list_display_links(request, list_display) or ())

    def useless_actions(self, row: Any) -> tuple[str, ...]:
        """Return the actions without use for a row; a name is the last part of the action's path."""
        return ()

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Any = None,
    ) -> Any:
        """Render a row's page without its useless actions."""
        if obj:
            useless = self.useless_actions(obj)
            actions = context.get("actions_detail", [])
            context["actions_detail"] = [action for action in actions if action_name(action["path"]) not in useless]
        return super().render_change_form(request, context, add, change, form_url, obj)


class ServiceWrittenAdmin(ListedAdmin):
    """Admin for rows that only the service creates and deletes."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_editable_fields(self, request: HttpRequest, row: Any) -> bool:
        """Return whether a row's page has a field to save; only its actions may need the permission to change."""
        field_names = flatten_fieldsets(self.get_fieldsets(request, row))
        return not set(field_names) <= set(self.get_readonly_fields(request, row))

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> Any:
        """Respond with a row's page; a form that could save nothing, but would be in the history, is refused."""
        if request.method == "POST" and not self.has_editable_fields(
            request, get_row_or_404(self, request, str(object_id))
        ):
            raise PermissionDenied
        return super().changeform_view(request, object_id, form_url, extra_context)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        """Render a row's page, without the buttons to save if no field is editable."""
        if not self.has_editable_fields(request, options.get("obj")):
            context |= {"show_save": False, "show_save_and_continue": False}
        return super().render_change_form(request, context, *args, **options)


class ReadOnlyAdmin(ServiceWrittenAdmin):
    """Admin for read-only rows."""

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class QueueStateFilter(admin.SimpleListFilter):
    """Filter for a leased queue's rows by state. The list refuses a value that is no state."""

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
        if value is None or not isinstance(queryset, LeasedQuerySet):
            return queryset
        if value not in dict(self.lookup_choices):
            raise IncorrectLookupParameters
        return queryset.in_state(QueueState[value.upper()], timezone.now())


class QueueAdmin(ReadOnlyAdmin):
    """Read-only admin for a leased queue's rows."""

    list_filter = (QueueStateFilter,)


class AdminFilterSet(FilterSet):
    """Base for filter sets in admin lists; each filter is a ChoiceFilter, and its label is the filter's title."""

    @classmethod
    def list_filters(cls) -> tuple[type[admin.SimpleListFilter], ...]:
        """Return the filters for an admin page's `list_filter`."""
        return tuple(
            type(name, (_ChoiceListFilter,), {"title": choice.label, "parameter_name": name, "filter_set": cls})
            for name, choice in cls.base_filters.items()
        )


class _ChoiceListFilter(admin.SimpleListFilter):
    """One choice in a filter set. A value that is no choice filters nothing."""

    filter_set: type[AdminFilterSet]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        choices = self.filter_set.base_filters[self.parameter_name].field.choices
        return [(value, label) for value, label in choices if value]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        filtered: QuerySet[Any] = self.filter_set({self.parameter_name: self.value()}, queryset).qs
        return filtered


def list_action(description: str, *, permission: str = "change") -> Callable[[ListAction], ListAction]:
    """Return the decorator for a list action on selected rows, sorted by key as all writers lock them.

    With more than MAX_ACTION_ROWS nothing is done, and the operator gets a message.
    """

    def decorate(act: ListAction) -> ListAction:
        @admin.action(description=description, permissions=[permission])
        @functools.wraps(act)
        def act_on_selection(model_admin: Any, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse | None:
            keys = list(rows.order_by().values_list("pk", flat=True)[: MAX_ACTION_ROWS + 1])
            if len(keys) <= MAX_ACTION_ROWS:
                return act(model_admin, request, rows.model._default_manager.filter(pk__in=keys).order_by("pk"))
            text = f"Nothing was done: an action takes at most {MAX_ACTION_ROWS:,} rows at a time."
            model_admin.message_user(request, f"{text} Choose fewer by a filter.", messages.ERROR)
            return None

        return act_on_selection

    return decorate


def confirm_action(
    model_admin: ModelAdmin, request: HttpRequest, object_id: str, act: Any, *, text: str, button: str = "Yes, do it"
) -> HttpResponse:
    """Run a list action for one row after a confirmation page, and return to the row's page.

    Return to the list if the action has deleted the row.
    """
    row = get_row_or_404(model_admin, request, object_id)
    if request.method == "POST":
        rows = type(row)._default_manager.filter(pk=row.pk)
        act(request, rows)
        return redirect(change_url(row) if rows.exists() else _list_url(row))
    title = f"{act.short_description}: {row}"
    return confirmation_page(model_admin, request, row=row, title=title, text=text, button=button)


def change_each(
    model_admin: ModelAdmin,
    request: HttpRequest,
    rows: Iterable[Row],
    change: Callable[[Row], object],
    *,
    refusal: type[Exception],
    name: str,
    log: str,
    done: str,
    left_out: str,
) -> None:
    """Change row after row in one transaction, and report how many are `done`, and which ones are `left_out` and why.

    `change` raises a `refusal` for a row that stays as it is, which is reported by its attribute `name`. The others
    get the history line `log`.
    """
    changed, refusals = [], []
    with transaction.atomic():
        for row in rows:
            try:
                change(row)
            except refusal as error:
                refusals.append(f"{getattr(row, name)}: {error}.")
            else:
                changed.append(row)
        log_changes(request, changed, log)
    if changed:
        model_admin.message_user(request, f"{len(changed)} {done}.", messages.SUCCESS)
    if refusals:
        more = ["..."] if len(refusals) > _MAX_REFUSALS else []
        text = " ".join([f"{left_out}: {len(refusals)}.", *refusals[:_MAX_REFUSALS], *more])
        model_admin.message_user(request, text, messages.WARNING)


def log_changes(request: HttpRequest, rows: Iterable[Any], message: str) -> None:
    """Write a history line for each row, all in one query."""
    LogEntry.objects.log_actions(operator_id(request), rows, CHANGE, message)


def operator_id(request: HttpRequest) -> int:
    """Return the id of the request's operator. Raises PermissionDenied for an anonymous visitor."""
    if request.user.pk is None:
        raise PermissionDenied
    return request.user.pk


def get_row_or_404(model_admin: ModelAdmin, request: HttpRequest, object_id: str) -> Any:
    """Return the row for an action's page; the decorator has checked permissions. Raises Http404."""
    row = model_admin.get_object(request, object_id)
    if row is None:
        raise Http404
    return row


def parse_id(text: str) -> int | None:
    """Return the whole id in a search text; None for any other text."""
    stripped = text.strip()
    return int(stripped) if _ID.fullmatch(stripped) else None


def change_url(row: Any) -> str:
    """Return the URL of a row's page."""
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def _list_url(row: Any) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_changelist")


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
    """Return an action's confirmation page, which posts to its own URL.

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


def secret_page(
    model_admin: ModelAdmin, request: HttpRequest, *, row: Any, title: str, label: str, text: str, usage: str
) -> TemplateResponse:
    """Return the page that shows a row's new secret, once.

    The text is only in this response: no message, session or URL contains it. The admin site marks all its pages
    no-store, so no cache keeps it either.
    """
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "original": row,
        "title": title,
        "label": label,
        "noun": label.rpartition(" ")[2].lower(),
        "text": text,
        "usage": usage,
        "back": _list_url(row),
        "back_label": f"Back to the {row._meta.verbose_name_plural}",
    }
    return TemplateResponse(request, "operators/secret_shown.html", context)
