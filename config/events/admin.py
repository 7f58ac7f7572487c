"""Admin page of published events."""

import json

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django_filters import ChoiceFilter

from config.events.event_types import stored_types
from config.events.models import Event, EventAudience
from config.operators.admin_pages import AdminFilterSet, BoundedPaginator, ReadOnlyAdmin, parse_id


def _types() -> list[tuple[str, str]]:
    return [(name, name) for name in stored_types()]


class EventFilterSet(AdminFilterSet):
    """Filter by type, which has an index."""

    type = ChoiceFilter(label="type", choices=_types)


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    """Read-only admin page of the events that were published within their retention, newest first."""

    empty_text = (
        "No event yet: each change of a token, deployment or fee claim is one; manage.py deliver_events publishes them."
    )
    list_display = ["id", "type", "chain_id", "subject", "reader", "created_at", "published_at"]
    list_filter = EventFilterSet.list_filters()
    fields = ("id", "type", "version", "chain_id", "subject", "reader", "data_text", "created_at", "published_at")
    search_fields = ["=id"]
    search_help_text = "A whole id."
    ordering = ["-id"]
    # The table has no index for another sort.
    sortable_by = ()
    paginator = BoundedPaginator

    @admin.display(description="may be read by")
    def reader(self, event: Event) -> str:
        if event.audience == EventAudience.PARTNER:
            return f"partner key {event.owner_id}"
        return EventAudience(event.audience).label.lower()

    @admin.display(description="data")
    def data_text(self, event: Event) -> str:
        text = json.dumps(event.data, indent=2, ensure_ascii=False)
        return format_html('<pre class="whitespace-pre-wrap break-all">{}</pre>', text)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Event], search_term: str
    ) -> tuple[QuerySet[Event], bool]:
        """Return the event with this id; no other search has an index."""
        if not search_term.strip():
            return queryset, False
        event_id = parse_id(search_term)
        return queryset.none() if event_id is None else queryset.filter(pk=event_id), False
