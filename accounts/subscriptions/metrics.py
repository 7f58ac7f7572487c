"""Prometheus metrics for events and their delivery."""

from collections.abc import Iterator
from datetime import datetime

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from accounts.subscriptions import delivery_counts
from accounts.subscriptions.delivery_counts import MAX_COUNTED, Outcome
from config.events.event_types import webhook_types
from config.events.outbox import measure_outbox
from config.postgresql.leased_queue import MAX_DEPTH
from config.watching.metrics import labelled_gauge


def events(now: datetime) -> Iterator[Metric]:
    """Yield the number and age of unpublished events."""
    size = measure_outbox(now)
    yield GaugeMetricFamily(
        "launchboard_outbox_events",
        f"Committed events that are not published yet, counted up to {MAX_DEPTH:,}.",
        value=size.depth,
    )
    yield GaugeMetricFamily(
        "launchboard_outbox_age_seconds",
        "Seconds since the oldest of them; 0 without any.",
        value=size.age_seconds(now),
    )


def webhooks(now: datetime) -> Iterator[Metric]:
    """Yield the endpoints by state, the last hour's deliveries by type and outcome, and their wait."""
    yield labelled_gauge(
        "launchboard_webhook_endpoints",
        "Endpoints by state; disabled ones by the service, and those that are off by an owner or an operator.",
        "state",
        delivery_counts.count_endpoints(),
    )
    counts = delivery_counts.count_deliveries(now).by_type
    types = sorted({*webhook_types(), *(event_type for event_type, _ in counts)})
    yield labelled_gauge(
        "launchboard_webhook_deliveries_hour",
        f"Deliveries queued in the last hour; of more than {MAX_COUNTED:,} the newest ones.",
        ("type", "outcome"),
        {(name, outcome): counts.get((name, outcome), 0) for name in types for outcome in Outcome},
    )
    yield GaugeMetricFamily(
        "launchboard_webhook_wait_seconds",
        "Longest wait of a due delivery to an endpoint that accepts events; 0 without any.",
        value=delivery_counts.longest_wait(now),
    )
