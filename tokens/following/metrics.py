"""Prometheus metrics of followed chains and of the checks of their final blocks."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Count, Q, Sum
from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily

from config.api.metrics import labelled_gauge
from tokens.following.chain_status import read_chain_states
from tokens.models import CoverageAlarm

# Metric name -> the attribute of `ChainState` that it exports, and its help text.
_OF_CHAINS = {
    "head_block": ("head", "Newest block reported by a node."),
    "final_block": ("final", "Newest final block."),
    "followed_block": ("followed", "Newest block whose logs are stored."),
    "covered_block": ("covered", "All followed blocks up to this one are stored."),
    "verified_block": ("verified", "All followed blocks up to this one are verified."),
    "lag_blocks": ("lag_blocks", "Blocks of the chain that are not stored yet."),
    "lag_seconds": (
        "lag_seconds",
        "Seconds since the oldest block that is not stored yet, or since a node responded.",
    ),
    "halted": ("is_halted", "1 while following is halted until an operator rewinds the chain."),
    "trouble": ("is_troubled", "1 while a loop of the follower fails and is retried."),
}


def following(now: datetime) -> Iterator[Metric]:
    """Yield the progress of each chain that was ever followed. Unknown values have no sample."""
    states = {str(state.chain_id): state for state in read_chain_states(now)}
    for name, (attribute, text) in _OF_CHAINS.items():
        values = {chain: getattr(state, attribute) for chain, state in states.items()}
        yield labelled_gauge(f"launchboard_chain_{name}", text, "chain", values)


def coverage(now: datetime) -> Iterator[Metric]:
    """Yield what the verification of final blocks has found per chain, and how much of it no operator has seen."""
    # Followed chains without alarms are included: a counter that first appears with its alarm shows no increase.
    chains = {str(state.chain_id): (0, 0, 0) for state in read_chain_states(now)}
    found = CoverageAlarm.objects.order_by().values("chain_id")
    for row in found.annotate(lost=Sum("missing"), made=Sum("invented"), unseen=Count("pk", filter=Q(seen_at=None))):
        chains[str(row["chain_id"])] = (row["lost"], row["made"], row["unseen"])
    missing = CounterMetricFamily(
        "launchboard_coverage_missing", "Launches and events that nodes had omitted.", labels=["chain"]
    )
    invented = CounterMetricFamily(
        "launchboard_coverage_invented", "Stored launches and events that the chain does not have.", labels=["chain"]
    )
    for chain, (lost, made, _) in chains.items():
        missing.add_metric([chain], lost)
        invented.add_metric([chain], made)
    yield missing
    yield invented
    yield labelled_gauge(
        "launchboard_coverage_alarms_unseen",
        "Coverage alarms that no operator has seen yet.",
        "chain",
        {chain: unseen for chain, (_, _, unseen) in chains.items()},
    )
