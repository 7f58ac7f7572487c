"""Dashboard panel about events: publication, deliveries in the last hour, and endpoints that need a person."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from django.db.models import F
from django.urls import reverse
from django.utils.text import Truncator

from accounts.models import EndpointState, WebhookEndpoint
from accounts.subscriptions.delivery_counts import MAX_COUNTED, Outcome, count_deliveries, longest_wait
from accounts.subscriptions.notices import DAYS_UNTIL_DISABLED
from config.events.outbox import measure_outbox, newest_event_id
from config.operators.admin_pages import change_url
from config.operators.dashboard import Figure, Panel, time_ago
from config.postgresql.leased_queue import MAX_DEPTH

# Both take less than a second.
_PUBLISHED_WITHIN = timedelta(seconds=60)
_SENT_WITHIN = timedelta(minutes=5)
# An endpoint that fails for less than this may only be restarting.
_FAILING_FOR = timedelta(hours=1)
_ENDPOINTS_SHOWN = 10
_URL_SHOWN = 60
_IS_IT_RUNNING = "is an events process running?"


def events(now: datetime) -> Iterable[Panel]:
    """Yield the panel about events."""
    endpoints = list(WebhookEndpoint.objects.order_by(F("failing_since").asc(nulls_last=True), "pk"))
    size, newest = measure_outbox(now), newest_event_id()
    if not (endpoints or size.depth or newest):
        text = "No event yet: changes of tokens, deployments and fee claims are events; add an endpoint that gets them."
        yield Panel(title="Events", empty_text=text)
        return
    age = timedelta(seconds=size.age_seconds(now))
    is_late = age > _PUBLISHED_WITHIN
    publication = Figure(
        label="Not published yet",
        value=f"{size.depth:,}{'+' if size.depth == MAX_DEPTH else ''}",
        note=f"the oldest is of {time_ago(size.since, now)}: {_IS_IT_RUNNING}" if is_late else f"newest id: {newest}",
        page=reverse("admin:events_event_changelist"),
        is_alarming=is_late,
    )
    yield Panel(title="Events", figures=(publication, *_deliveries(endpoints, now), *_endpoints(endpoints, now)))


def _deliveries(endpoints: list[WebhookEndpoint], now: datetime) -> Iterator[Figure]:
    if not endpoints:
        return
    page = reverse("admin:accounts_webhookdelivery_changelist")
    counts = count_deliveries(now)
    others = [
        f"{counts.total(outcome):,} {outcome}"
        for outcome in Outcome
        if outcome != Outcome.DELIVERED and counts.total(outcome)
    ]
    yield Figure(
        label="Deliveries of the last hour",
        value=f"{counts.total(Outcome.DELIVERED):,} delivered",
        note=", ".join(others) or f"of the newest {MAX_COUNTED:,}",
        page=page,
    )
    seconds = longest_wait(now)
    if seconds > _SENT_WITHIN.total_seconds():
        since = time_ago(now - timedelta(seconds=seconds), now)
        yield Figure(
            label="Deliveries wait",
            value=f"due {since}",
            note=f"{_IS_IT_RUNNING} Are WEBHOOK_THREADS enough?",
            page=f"{page}?queue=waiting",
            is_alarming=True,
        )


def _endpoints(endpoints: list[WebhookEndpoint], now: datetime) -> Iterator[Figure]:
    """Yield the number of enabled endpoints, and each that fails or that the service has disabled."""
    page = reverse("admin:accounts_webhookendpoint_changelist")
    if endpoints:
        enabled = sum(endpoint.state == EndpointState.ENABLED for endpoint in endpoints)
        yield Figure(label="Endpoints", value=f"{enabled:,} enabled", note=f"of {len(endpoints):,}", page=page)
    failed = [endpoint for endpoint in endpoints if endpoint.state in (EndpointState.FAILING, EndpointState.DISABLED)]
    for endpoint in failed[:_ENDPOINTS_SHOWN]:
        is_failing = endpoint.state == EndpointState.FAILING
        since = endpoint.failing_since if is_failing else endpoint.disabled_at
        text = f"it is disabled after {DAYS_UNTIL_DISABLED} days" if is_failing else endpoint.disabled_reason
        yield Figure(
            label=Truncator(endpoint.url).chars(_URL_SHOWN),
            value=str(endpoint.state.label),
            note=f"{time_ago(since, now)}: {text}",
            page=change_url(endpoint),
            is_alarming=not is_failing or (since is not None and now - since > _FAILING_FOR),
        )
    if len(failed) > _ENDPOINTS_SHOWN:
        yield Figure(label="More endpoints", value=f"{len(failed) - _ENDPOINTS_SHOWN:,}", page=page, is_alarming=True)
