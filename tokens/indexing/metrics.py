"""Prometheus metrics for index requests and token documents."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Count, TextChoices
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from config.watching.metrics import labelled_gauge
from tokens.installation.installed_registry import registry
from tokens.models import DocumentStatus, IndexRequest, IndexRequestStatus, TokenDocument

# Counting all rows by status would scan the whole table. A scrape reads only this many newest rows.
NEWEST = 1_000

_QUEUES: tuple[tuple[Any, str, type[TextChoices]], ...] = (
    (IndexRequest, "index requests", IndexRequestStatus),
    (TokenDocument, "documents", DocumentStatus),
)


def indexing(now: datetime) -> Iterator[Metric]:
    """Yield metrics for index requests and documents: pending, newest by status, undecodable."""
    undecodable = IndexRequest.objects.filter(undecodable=True).order_by()
    counts = undecodable.values_list("chain_id").annotate(count=Count("pk"))
    yield labelled_gauge(
        "launchboard_index_requests_undecodable",
        "Transactions of trusted contracts and programs that can't be decoded.",
        "chain",
        dict.fromkeys([*registry().chains, registry().solana.chain_id], 0) | dict(counts),
    )
    for model, words, statuses in _QUEUES:
        name = f"launchboard_{model.QUEUE}"
        newest = Counter(model.objects.order_by("-pk").values_list("status", flat=True)[:NEWEST])
        yield GaugeMetricFamily(f"{name}_pending", f"Pending {words}.", value=model.objects.queued().count())
        yield labelled_gauge(
            f"{name}_newest",
            f"The newest {NEWEST:,} {words} by status.",
            "status",
            {status.value: newest[status.value] for status in statuses},
        )
