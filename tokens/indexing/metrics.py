"""Prometheus metrics of index requests and of token documents."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from django.conf import settings
from django.db.models import Count, Min
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from config.api.metrics import labelled_gauge
from tokens.models import DocumentStatus, IndexRequest, IndexRequestStatus, TokenDocument

# Counting all rows by status would scan the whole table. A scrape reads only this many of the newest.
NEWEST = 1_000


def indexing(now: datetime) -> Iterator[Metric]:
    """Yield the metrics of index requests: the pending ones, and the newest by status."""
    waiting = IndexRequest.objects.filter(status="pending").aggregate(count=Count("*"), due=Min("due_at"))
    overdue = max(0.0, (now - waiting["due"]).total_seconds()) if waiting["due"] else 0.0
    newest = Counter(IndexRequest.objects.order_by("-pk").values_list("status", flat=True)[:NEWEST])
    yield GaugeMetricFamily("launchboard_index_requests_pending", "Pending index requests.", value=waiting["count"])
    yield GaugeMetricFamily(
        "launchboard_index_requests_overdue_seconds",
        "Seconds since the oldest pending request became due.",
        value=overdue,
    )
    yield labelled_gauge(
        "launchboard_index_requests_newest",
        f"The newest {NEWEST:,} index requests by status.",
        "status",
        {status.value: newest[status.value] for status in IndexRequestStatus},
    )


def documents(now: datetime) -> Iterator[Metric]:
    """Yield the metrics of token documents: the pending ones, and those of the newest tokens by status."""
    waiting = TokenDocument.objects.filter(status="pending").aggregate(count=Count("*"), due=Min("due_at"))
    # Without FETCH_DOCUMENTS no document is overdue.
    is_late = settings.FETCH_DOCUMENTS and waiting["due"]
    overdue = max(0.0, (now - waiting["due"]).total_seconds()) if is_late else 0.0
    newest = Counter(TokenDocument.objects.order_by("-pk").values_list("status", flat=True)[:NEWEST])
    yield GaugeMetricFamily("launchboard_documents_pending", "Pending documents.", value=waiting["count"])
    yield GaugeMetricFamily(
        "launchboard_documents_overdue_seconds", "Seconds since the oldest pending document became due.", value=overdue
    )
    yield labelled_gauge(
        "launchboard_documents_newest",
        f"The newest {NEWEST:,} documents by status.",
        "status",
        {status.value: newest[status.value] for status in DocumentStatus},
    )
