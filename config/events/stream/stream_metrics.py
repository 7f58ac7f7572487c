"""Metrics for the stream's process, read at each scrape on its own port."""

import time
from collections.abc import Iterator

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from config.events.stream.event_hub import EventHub
from config.events.stream.log_poller import LogPoller
from config.events.stream.stream_app import ClientLimits
from config.events.stream.stream_client import StreamCounts


class StreamMetrics(Collector):
    """Collector for one process's numbers, which a restart sets to 0."""

    def __init__(self, hub: EventHub, *, poller: LogPoller, limits: ClientLimits, counts: StreamCounts) -> None:
        self._hub, self._poller, self._limits, self._counts = hub, poller, limits, counts

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        yield GaugeMetricFamily("launchboard_stream_clients", "Open streams.", self._limits.clients)
        yield GaugeMetricFamily("launchboard_stream_newest_id", "Id of the newest event.", self._hub.newest)
        yield GaugeMetricFamily(
            "launchboard_stream_poll_age_seconds",
            "Seconds since the last poll of the database that succeeded.",
            time.monotonic() - self._poller.polled_at,
        )
        yield CounterMetricFamily(
            "launchboard_stream_events_sent", "Events written to clients.", self._counts.events_sent
        )
        yield CounterMetricFamily(
            "launchboard_stream_slow_clients_closed", "Connections closed with a full buffer.", self._counts.slow_closed
        )
        refused = CounterMetricFamily("launchboard_stream_refused", "Refused clients by limit.", labels=["reason"])
        for reason, count in self._limits.refused.items():
            refused.add_metric([reason], count)
        yield refused
