"""Prometheus metrics for requests, tasks and node calls: sums over all processes, read from Redis."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import accumulate

from prometheus_client import Metric
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    SummaryMetricFamily,
)
from redis.exceptions import RedisError

from config.http.process_sums import BUCKETS, SumKey
from config.redis.stored_sums import read_sums

# Sum name -> its labels, and the help text.
_COUNTERS = {
    "requests": (("route", "status"), "Responses of the web server by URL pattern and status."),
    "tasks": (("task", "outcome"), "Tasks that workers ended."),
    "rpc_calls": (("chain", "method", "outcome"), "Calls to nodes, also those of requests that failed."),
}
_DURATIONS = {
    "task_seconds": (("task",), "Duration of tasks."),
    "rpc_request_seconds": (("chain",), "Duration of requests to nodes, each with one or more calls."),
    "collection_seconds": (("generation",), "Duration of garbage collections of web processes, which block requests."),
}
_HISTOGRAMS = {
    "request_seconds": (("route",), "Time from a complete request to its response, with the wait for a thread.")
}
# The bounds as label values, with the last one.
_BOUNDS = [*map(str, BUCKETS), "+Inf"]


def process_sums(now: datetime) -> Iterator[Metric]:
    """Yield the sums over all processes, and whether Redis responds; without Redis there are no sums."""
    try:
        sums, is_up = read_sums(), True
    except RedisError:
        sums, is_up = {}, False
    yield GaugeMetricFamily("launchboard_redis_up", "1 while Redis responds to the web server.", value=is_up)
    by_name: dict[str, dict[SumKey, float]] = defaultdict(dict)
    for key, amount in sums.items():
        by_name[key[0]][key[1:]] = amount
    for name, (labels, text) in _COUNTERS.items():
        counter = CounterMetricFamily(f"launchboard_{name}", text, labels=labels)
        for values, amount in by_name[name].items():
            counter.add_metric(values, amount)
        yield counter
    for name, (labels, text) in _DURATIONS.items():
        yield _summary(name, text, labels, by_name)
    for name, (labels, text) in _HISTOGRAMS.items():
        yield _histogram(name, text, labels, by_name)


def _summary(
    name: str, text: str, labels: tuple[str, ...], sums: Mapping[str, Mapping[SumKey, float]]
) -> SummaryMetricFamily:
    summary = SummaryMetricFamily(f"launchboard_{name}", text, labels=labels)
    for values, seconds in sums[f"{name}_sum"].items():
        summary.add_metric(values, int(sums[f"{name}_count"].get(values, 0)), seconds)
    return summary


def _histogram(
    name: str, text: str, labels: tuple[str, ...], sums: Mapping[str, Mapping[SumKey, float]]
) -> HistogramMetricFamily:
    histogram = HistogramMetricFamily(f"launchboard_{name}", text, labels=labels)
    counts = sums[f"{name}_bucket"]
    for values, seconds in sums[f"{name}_sum"].items():
        bucket_counts = (counts.get((*values, str(number)), 0) for number in range(len(_BOUNDS)))
        histogram.add_metric(values, list(zip(_BOUNDS, accumulate(bucket_counts), strict=True)), seconds)
    return histogram
