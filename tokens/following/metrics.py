"""What `GET /metrics` tells of following, index requests, documents and tokens: what a scrape reads in milliseconds."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime

from django.conf import settings
from django.db.models import Count, Min, Q, Sum
from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from tokens.catalogue.selections import Selection
from tokens.catalogue.totals import total_of
from tokens.following.chain_status import read_states
from tokens.models import CoverageAlarm, IndexRequest, TokenDocument

# Counting all requests by status reads their whole table; so many are read at once, however large it is.
NEWEST = 1_000

# Name -> the attribute of a chain's state that it tells, and what that is.
_OF_CHAINS = {
    "head_block": ("head", "The newest block that a node told of."),
    "final_block": ("final", "The newest block that no reorganisation drops any more."),
    "followed_block": ("followed", "The newest block whose logs are written."),
    "covered_block": ("covered", "Every block that is followed is written up to here."),
    "verified_block": ("verified", "Every block that is followed was checked again up to here."),
    "lag_blocks": ("lag_blocks", "How many blocks of the chain wait to be written."),
    "lag_seconds": ("lag_seconds", "For how long the oldest of them waits, or no node has told anything."),
    "halted": ("is_halted", "1 while following has stopped until an operator decides."),
    "trouble": ("is_troubled", "1 while something goes wrong that is tried again."),
}


def following(now: datetime) -> Iterator[Metric]:
    """Each chain that was ever followed: where it is, and how far it is written and checked. Absent is unknown."""
    states = {str(state.chain_id): state for state in read_states(now)}
    for name, (attribute, text) in _OF_CHAINS.items():
        values = {chain: getattr(state, attribute) for chain, state in states.items()}
        yield _gauge(f"launchboard_chain_{name}", text, "chain", values)


def coverage(now: datetime) -> Iterator[Metric]:
    """What the checks of final blocks have found on each chain, and whether an operator has seen it."""
    # The chains that are followed as well: a counter that comes with its first alarm shows no increase.
    chains = {str(state.chain_id): (0, 0, 0) for state in read_states(now)}
    found = CoverageAlarm.objects.order_by().values("chain_id")
    for row in found.annotate(lost=Sum("missing"), made=Sum("invented"), unseen=Count("pk", filter=Q(seen_at=None))):
        chains[str(row["chain_id"])] = (row["lost"], row["made"], row["unseen"])
    missing = CounterMetricFamily(
        "launchboard_coverage_missing", "Launches and events that nodes had left out.", labels=["chain"]
    )
    invented = CounterMetricFamily(
        "launchboard_coverage_invented", "Launches and events that the chain does not have.", labels=["chain"]
    )
    for chain, (lost, made, _) in chains.items():
        missing.add_metric([chain], lost)
        invented.add_metric([chain], made)
    yield missing
    yield invented
    yield _gauge(
        "launchboard_coverage_alarms_unseen",
        "Alarms of them that no operator has seen yet.",
        "chain",
        {chain: unseen for chain, (_, _, unseen) in chains.items()},
    )


def indexing(now: datetime) -> Iterator[Metric]:
    """Index requests: those that wait, and the newest by status."""
    waiting = IndexRequest.objects.filter(status="pending").aggregate(count=Count("*"), due=Min("due_at"))
    overdue = max(0.0, (now - waiting["due"]).total_seconds()) if waiting["due"] else 0.0
    newest = Counter(IndexRequest.objects.order_by("-pk").values_list("status", flat=True)[:NEWEST])
    yield GaugeMetricFamily(
        "launchboard_index_requests_pending", "Index requests that wait to be read.", value=waiting["count"]
    )
    yield GaugeMetricFamily(
        "launchboard_index_requests_overdue_seconds", "For how long the first of them has been due.", value=overdue
    )
    yield _gauge(
        "launchboard_index_requests_newest",
        f"Of the newest {NEWEST:,} index requests, how many are in each state.",
        "status",
        {status.value: newest[status.value] for status in IndexRequest.Status},
    )


def documents(now: datetime) -> Iterator[Metric]:
    """The documents that describe tokens: those that wait, and those of the newest tokens by status."""
    waiting = TokenDocument.objects.filter(status="pending").aggregate(count=Count("*"), due=Min("due_at"))
    # Where nobody is to fetch them, none is late.
    is_late = settings.FETCH_DOCUMENTS and waiting["due"]
    overdue = max(0.0, (now - waiting["due"]).total_seconds()) if is_late else 0.0
    newest = Counter(TokenDocument.objects.order_by("-pk").values_list("status", flat=True)[:NEWEST])
    yield GaugeMetricFamily("launchboard_documents_pending", "Documents to be fetched.", value=waiting["count"])
    yield GaugeMetricFamily(
        "launchboard_documents_overdue_seconds", "For how long the first of them has been due.", value=overdue
    )
    yield _gauge(
        "launchboard_documents_newest",
        f"Of the newest {NEWEST:,} documents, how many are in each state.",
        "status",
        {status.value: newest[status.value] for status in TokenDocument.Status},
    )


def listed(now: datetime) -> Iterator[Metric]:
    """Tokens, as the total of the plain list has it: beyond 10,000 an estimate where no worker has counted lately."""
    yield GaugeMetricFamily("launchboard_tokens_listed", "Tokens in public lists.", value=total_of(Selection()).number)


def _gauge(name: str, text: str, label: str, values: Mapping[str, float | None]) -> GaugeMetricFamily:
    """One number for each value of a label, without those that are None."""
    gauge = GaugeMetricFamily(name, text, labels=[label])
    for value, number in values.items():
        if number is not None:
            gauge.add_metric([value], number)
    return gauge
