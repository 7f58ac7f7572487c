"""Admin pages for the webhook delivery log, with each delivery's attempts, and replays of selected deliveries."""

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html

from accounts.models import WebhookDelivery, WebhookEndpoint
from accounts.subscriptions import deliveries
from config.operators.admin_pages import (
    BoundedPaginator,
    QueueStateFilter,
    ReadOnlyAdmin,
    change_url,
    list_action,
    log_changes,
    parse_id,
)

_ENDPOINTS_SEARCHED = 100


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnlyAdmin):
    """Read-only admin page for deliveries, newest first. No response's content is stored."""

    empty_text = "No delivery yet: add an endpoint; manage.py deliver_events sends it the events from then on."
    list_display = ["id", "event_type", "event_id", "endpoint", "reason", "status", "attempts", "last_error", "due_at"]
    list_filter = ("status", "reason", QueueStateFilter)
    list_select_related = ["endpoint"]
    fields = (
        "event_type",
        "event",
        "linked_endpoint",
        "reason",
        "status",
        "created_at",
        "due_at",
        "leased_until",
        "last_error",
        "attempt_table",
    )
    search_fields = ["=event_id", "endpoint__url"]
    search_help_text = "An event's whole id, or part of an endpoint's URL."
    ordering = ["-id"]
    # The table has no index for another sort.
    sortable_by = ()
    paginator = BoundedPaginator
    actions = ["replay"]

    @admin.display(description="event")
    def event(self, delivery: WebhookDelivery) -> str:
        """Return a link to the event; it is dropped after its retention."""
        if delivery.event_id is None:
            return "none: a test"
        page = reverse("admin:events_event_change", args=[delivery.event_id])
        return format_html('<a class="text-link" href="{}">{}</a>', page, delivery.event_id)

    @admin.display(description="endpoint")
    def linked_endpoint(self, delivery: WebhookDelivery) -> str:
        return format_html('<a class="text-link" href="{}">{}</a>', change_url(delivery.endpoint), delivery.endpoint)

    @admin.display(description="attempts")
    def attempt_table(self, delivery: WebhookDelivery) -> str:
        """Return the attempts, oldest first."""
        attempts = [attempt | {"at": parse_datetime(attempt["at"])} for attempt in delivery.log]
        return render_to_string("accounts/delivery_attempts.html", {"attempts": attempts})

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[WebhookDelivery], search_term: str
    ) -> tuple[QuerySet[WebhookDelivery], bool]:
        """Return the deliveries of an event, or to endpoints. The indexes begin with the endpoint."""
        text = search_term.strip()
        if not text:
            return queryset, False
        event_id = parse_id(text)
        if event_id is not None:
            endpoint_ids = list(WebhookEndpoint.objects.values_list("pk", flat=True))
            return queryset.filter(endpoint__in=endpoint_ids, event_id=event_id), False
        matching = WebhookEndpoint.objects.filter(url__icontains=text).values_list("pk", flat=True)
        return queryset.filter(endpoint__in=list(matching[:_ENDPOINTS_SEARCHED])), False

    def has_replay_permission(self, request: HttpRequest) -> bool:
        """Return whether the operator may change endpoints."""
        return admin.site.get_model_admin(WebhookEndpoint).has_change_permission(request)

    @list_action("Replay: send these events again", permission="replay")
    def replay(self, request: HttpRequest, selected: QuerySet[WebhookDelivery]) -> None:
        """Queue each selected delivery's event again for the same endpoint."""
        active = WebhookEndpoint.objects.active().in_bulk()
        replayed: list[WebhookDelivery] = []
        with transaction.atomic():
            for delivery in selected:
                endpoint, event_id = active.get(delivery.endpoint_id), delivery.event_id
                if endpoint is None or event_id is None:
                    continue
                if deliveries.replay_events(endpoint, first=event_id, last=event_id).queued:
                    replayed.append(delivery)
            log_changes(request, replayed, "Replayed.")
        self.message_user(request, f"{len(replayed)} queued.", messages.SUCCESS)
        left_out = len(selected) - len(replayed)
        if left_out:
            text = (
                f"{left_out} left out: tests, events that are queued already, past their retention or outside of the "
                "filters, and endpoints that get no events."
            )
            self.message_user(request, text, messages.WARNING)
