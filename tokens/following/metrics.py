"""Prometheus metrics about followed chains and about final block verification."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, Sum
from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from config.watching.metrics import labelled_gauge
from tokens.following.chain_status import read_chain_states
from tokens.models import CoverageAlarm

# Metric name -> the `ChainState` attribute that it exports, and its help text.
_CHAIN_GAUGES = {
    "head_block": ("head", "Newest block reported by a node."),
    "final_block": ("final", "Newest final block."),
    "followed_block": ("followed", "Newest block whose logs are stored."),
    "covered_block": ("covered", "All followed blocks up to this one are stored."),
    "checked_block": ("checked", "All followed blocks up to this one are read a second time."),
    "verified_block": ("verified", "All followed blocks up to this one are verified by another provider or a proof."),
    "lag_blocks": ("lag_blocks", "Blocks of the chain that are not stored yet."),
    "lag_seconds": (
        "lag_seconds",
        "Seconds since the oldest block that is not stored yet, or since a node responded.",
    ),
    "halted": ("is_halted", "1 while following is halted until an operator rewinds the chain."),
    "trouble": ("is_troubled", "1 while a loop of the follower fails and is retried."),
}
# Coverage alarm columns, each a counter, and their help texts.
_COUNTERS = {
    "missing": "Launches, events and trades that nodes had omitted.",
    "invented": "Stored launches, events and trades that the chain does not have.",
    "corrected": "Stored transactions and trades whose values were wrong, such as their time.",
    "kept": "Stored launches, events and trades that nodes omit now, and that nothing proved wrong.",
    "unproven": "Blocks whose receipts don't make the header's bloom filter, or could not be read.",
}
# Coverage alarm kinds. An alarm may be of several kinds.
_KINDS = {
    "logs": Q(missing__gt=0) | Q(invented__gt=0),
    "values": Q(corrected__gt=0),
    "kept": Q(kept__gt=0),
    "proof": Q(unproven__gt=0),
}


def following(now: datetime) -> Iterator[Metric]:
    """Yield progress by chain, for chains that were ever followed. Unknown values have no sample."""
    states = {str(state.chain_id): state for state in read_chain_states(now)}
    for name, (attribute, text) in _CHAIN_GAUGES.items():
        values = {chain: getattr(state, attribute) for chain, state in states.items()}
        yield labelled_gauge(f"launchboard_chain_{name}", text, "chain", values)


def coverage(now: datetime) -> Iterator[Metric]:
    """Yield the findings of final block verification per chain, and how many no operator has seen."""
    sums: dict[str, Any] = {f"all_{column}": Sum(column) for column in _COUNTERS}
    unseen: dict[str, Any] = {
        f"unseen_{kind}": Count("pk", filter=Q(seen_at=None) & condition) for kind, condition in _KINDS.items()
    }
    # Followed chains without alarms are included: a counter that first appears with its alarm shows no increase.
    chains: dict[str, Mapping[str, Any]] = {str(state.chain_id): {} for state in read_chain_states(now)}
    alarms = CoverageAlarm.objects.order_by().values("chain_id")
    for row in alarms.annotate(**sums, **unseen, unseen=Count("pk", filter=Q(seen_at=None))):
        chains[str(row["chain_id"])] = row
    for column, text in _COUNTERS.items():
        counter = CounterMetricFamily(f"launchboard_coverage_{column}", text, labels=["chain"])
        for chain, counts in chains.items():
            counter.add_metric([chain], counts.get(f"all_{column}", 0))
        yield counter
    yield labelled_gauge(
        "launchboard_coverage_alarms_unseen",
        "Coverage alarms that no operator has seen yet.",
        "chain",
        {chain: counts.get("unseen", 0) for chain, counts in chains.items()},
    )
    kinds = GaugeMetricFamily(
        "launchboard_coverage_unseen", "The same by what they are about.", labels=["chain", "kind"]
    )
    for chain, counts in chains.items():
        for kind in _KINDS:
            kinds.add_metric([chain, kind], counts.get(f"unseen_{kind}", 0))
    yield kinds
