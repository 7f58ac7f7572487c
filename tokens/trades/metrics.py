"""Prometheus metrics for stored trades and reference prices."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from config.postgresql.partitions import read_partition_state
from config.watching.metrics import labelled_gauge
from tokens.installation.installed_registry import registry
from tokens.trades.recent_trades import count_recent_trades
from tokens.trades.reference_check import read_reference_states


def stored_trades(now: datetime) -> Iterator[Metric]:
    """Yield size and rows per partitioned table, and the partitions that maintenance left out."""
    state = read_partition_state(now)
    sizes: Counter[str] = Counter()
    rows: Counter[str] = Counter()
    for partition in state.partitions:
        table = partition.table.partition("_")[2]
        sizes[table] += partition.size_bytes
        rows[table] += partition.rows or 0
    yield labelled_gauge(
        "launchboard_partitioned_bytes", "Size of partitioned tables on disk, with indexes.", "table", sizes
    )
    yield labelled_gauge(
        "launchboard_partitioned_rows", "Rows of partitioned tables, as PostgreSQL estimates them.", "table", rows
    )
    yield GaugeMetricFamily(
        "launchboard_partitions_missing",
        "Partitions of this week and the next one that do not exist; 0 before the first row of a table.",
        value=len(state.missing),
    )
    yield GaugeMetricFamily(
        "launchboard_partitions_expired",
        "Partitions that are stored for more than a day after their retention.",
        value=len(state.expired),
    )


def recent_trades(now: datetime) -> Iterator[Metric]:
    """Yield the last hour's trades on each chain followed for trades, and the sums' age."""
    counts = count_recent_trades()
    yield labelled_gauge(
        "launchboard_chain_trades_hour",
        "Trades of the last hour that are no conversions.",
        "chain",
        {chain_id: recent.last_hour for chain_id, recent in counts.items()},
    )
    yield labelled_gauge(
        "launchboard_chain_trades_age_seconds",
        "Seconds since the end of this hour, which the follower moves each minute.",
        "chain",
        {chain_id: (now - recent.counted_to).total_seconds() for chain_id, recent in counts.items()},
    )


def reference_prices(now: datetime) -> Iterator[Metric]:
    """Yield the difference between reference pools, and their alarm, for each followed chain with such pools."""
    states = read_reference_states(registry().chains.values())
    yield labelled_gauge(
        "launchboard_reference_price_difference_percent",
        "Largest difference between reference pools of one quote token.",
        "chain",
        {chain_id: state.difference_percent for chain_id, state in states.items()},
    )
    yield labelled_gauge(
        "launchboard_reference_price_alarm",
        "1 while reference pools differ by over 2 %, or one has had no swap for an hour.",
        "chain",
        {chain_id: bool(state.alarm) for chain_id, state in states.items()},
    )
