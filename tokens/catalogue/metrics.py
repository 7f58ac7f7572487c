"""Prometheus metrics for token lists."""

from collections.abc import Iterator
from datetime import datetime

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from tokens.catalogue.list_statements import ListStatements
from tokens.catalogue.selections import Selection
from tokens.catalogue.totals import fetch_total


def listed(now: datetime) -> Iterator[Metric]:
    """Yield the unfiltered token list's total; above 10,000 an estimate unless a worker's count is cached."""
    yield GaugeMetricFamily(
        "launchboard_tokens_listed", "Tokens in public lists.", value=fetch_total(ListStatements.of(Selection())).number
    )
