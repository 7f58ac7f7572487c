"""Panels of the operators' dashboard about launches, indexing and market data."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Max, Min, Q
from django.db.models.functions import TruncHour
from django.urls import reverse
from redis.exceptions import RedisError

from config.operators.dashboard import Chart, Figure, Panel, ago
from tokens.indexing.documents.fetching import LEASE_SECONDS
from tokens.installation.installed_chains import registry
from tokens.market import provider_rate_limit
from tokens.market.refresh_schedule import Priority
from tokens.models import IndexRequest, Market, Token, TokenDocument

HOURS = 48
_HOUR = timedelta(hours=1)
# A failure of longer ago alarms nobody.
_LATELY = timedelta(days=1)
# Beat sweeps every few seconds: what lies for this many leases has no worker.
_LEASES_UNTIL_ALARM = 2
_LONGEST_ERROR = 120

_PENDING, _WRITTEN = Q(status="pending"), Q(status__in=("indexed", "confirmed"))
# What indexing notes of a chain begins with its name. Of what it puts a request off for, only that the chain does not
# know the transaction is an answer: anybody may ask for a hash that is in no block.
_OUTAGE = _PENDING & Q(last_error__startswith="chain ") & ~Q(last_error__contains=" does not know the transaction")

_DUE = {
    Priority.VIEWED: "Viewed lately",
    Priority.FRESH: "Launched in the last day",
    Priority.TRADED: "Traded in the last day",
    Priority.OTHER: "All others",
}


def launches(now: datetime) -> Iterable[Panel]:
    """Launches of listed tokens by the hour of their block."""
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    hours = [this_hour - _HOUR * back for back in reversed(range(HOURS))]
    listed = Token.objects.listed().filter(deployed_at__gte=hours[0]).order_by()
    counted = listed.annotate(hour=TruncHour("deployed_at")).values("hour").annotate(count=Count("pk"))
    counts = dict(counted.values_list("hour", "count"))
    bars = tuple((f"{hour:%d %b, %H:%M}", counts.get(hour, 0)) for hour in hours)
    last, before = bars[HOURS // 2 :], bars[: HOURS // 2]
    yield Panel(
        title="Launches",
        chart=Chart(title="Launches per hour, UTC, without blocked ones", bars=bars, start=bars[0][0], end="now"),
        figures=(
            Figure(label="The last 24 hours", value=_sum(last), page=reverse("admin:tokens_token_changelist")),
            Figure(label="The 24 hours before", value=_sum(before)),
        ),
    )


def indexing(now: datetime) -> Iterable[Panel]:
    """How far index requests are, and what is known of the chains' nodes from them."""
    groups = IndexRequest.objects.order_by().values("chain_id", "status")
    rows: list[Any] = list(
        groups.annotate(
            count=Count("pk"),
            due=Min("due_at", filter=_PENDING),
            asked=Min("created_at", filter=_PENDING),
            written=Max("updated_at", filter=_WRITTEN),
            outage=Max("last_error", filter=_OUTAGE),
            # Anybody may ask for any hash from a page.
            last=Max("updated_at", filter=Q(from_page=False)),
        )
    )
    yield _requests(rows, now)
    if settings.RPC_URLS:
        yield _nodes(rows, now)


def market_data(now: datetime) -> Iterable[Panel]:
    """Whether the market-data provider is asked, and for how many tokens it is to be."""
    waiting = Market.objects.waiting(now)
    due = (
        Figure(
            label=label,
            value=f"{waiting[priority][0]:,} due" if priority in waiting else "none due",
            note=f"the first since {ago(waiting[priority][1], now)}" if priority in waiting else "",
        )
        for priority, label in _DUE.items()
    )
    yield Panel(title="Market data", figures=(_market_provider(), *due))


def _sum(bars: tuple[tuple[str, int], ...]) -> str:
    return f"{sum(value for _, value in bars):,}"


def _requests(rows: list[Any], now: datetime) -> Panel:
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row["status"]] += row["count"]
    pending = [row for row in rows if row["status"] == "pending"]
    overdue = min((row["due"] for row in pending), default=now) < now - _patience()
    oldest = f"the oldest asked for {ago(min(row['asked'] for row in pending), now)}" if pending else ""
    # Those of long ago are what they are: nobody can index a transaction that holds no launch.
    failed_lately = any(row["status"] == "failed" and row["last"] and now - row["last"] < _LATELY for row in rows)
    note = f"{oldest}; due for long: are a worker and beat running?" if overdue else oldest
    notes = {"pending": note, "indexed": "until their block is final", "failed": "an operator can index them again"}
    return Panel(
        title="Index requests",
        figures=tuple(
            Figure(
                label=status.label,
                value=f"{counts[status]:,}",
                note=notes.get(status, "") if counts[status] else "",
                page=f"{reverse('admin:tokens_indexrequest_changelist')}?status__exact={status}",
                is_alarming=overdue if status == "pending" else status == "failed" and failed_lately,
            )
            for status in IndexRequest.Status
        ),
    )


def _nodes(rows: list[Any], now: datetime) -> Panel:
    return Panel(
        title="Nodes",
        figures=tuple(
            _chain(chain_id, [row for row in rows if row["chain_id"] == chain_id], now)
            for chain_id in settings.RPC_URLS
        ),
        note="As index requests met them; who waits for a node is tried again by itself.",
    )


def _chain(chain_id: int, rows: list[Any], now: datetime) -> Figure:
    chain = registry().chains.get(chain_id)
    count = len(settings.RPC_URLS[chain_id])
    written = max((row["written"] for row in rows if row["written"]), default=None)
    outage = next((row["outage"] for row in rows if row["outage"]), "")
    return Figure(
        label=chain.name if chain else f"Chain {chain_id}",
        value=f"{count} node{'s' if count > 1 else ''}",
        note=f"last answer written {ago(written, now)}" + (f"; put off: {outage[:_LONGEST_ERROR]}" if outage else ""),
        page=f"{reverse('admin:tokens_indexrequest_changelist')}?chain_id={chain_id}",
        is_alarming=bool(outage),
    )


def _market_provider() -> Figure:
    label = "Provider"
    if not settings.MARKET_DATA:
        return Figure(label=label, value="turned off", note="MARKET_DATA is false")
    try:
        pause = provider_rate_limit.read_pause()
    except RedisError:
        return Figure(label=label, value="unknown", note="Redis does not answer", is_alarming=True)
    if pause.seconds:
        note = f"failures in a row: {pause.failures}" if pause.failures else "it asked for a pause, or refused the key"
        return Figure(label=label, value=f"left alone for {pause.seconds:.0f} s", note=note, is_alarming=True)
    return Figure(label=label, value="asked", note=f"up to {settings.MARKET_CALLS_PER_MINUTE} calls a minute")


def _patience() -> timedelta:
    return timedelta(seconds=settings.INDEX_LEASE_SECONDS * _LEASES_UNTIL_ALARM)


# The dashboard's panel of documents that describe tokens outside of the chain.
# From then on nobody seems to fetch.
_PATIENCE = timedelta(seconds=5 * LEASE_SECONDS)


def documents(now: datetime) -> Iterable[Panel]:
    """How many documents wait, were fetched and were given up; nothing where no token has one."""
    groups = TokenDocument.objects.order_by().values("status").annotate(count=Count("pk"), due=Min("due_at"))
    rows: dict[str, Any] = {row["status"]: row for row in groups}
    if rows:
        figures = tuple(_figure(status, rows.get(status), now) for status in TokenDocument.Status)
        yield Panel(title="Documents of tokens", figures=figures)


def _figure(status: TokenDocument.Status, row: Any, now: datetime) -> Figure:
    is_pending = status == TokenDocument.Status.PENDING
    overdue = bool(is_pending and row and settings.FETCH_DOCUMENTS and row["due"] < now - _PATIENCE)
    note = ""
    if overdue:
        note = f"the first due {ago(row['due'], now)}: are a worker and beat running?"
    elif is_pending and row and not settings.FETCH_DOCUMENTS:
        note = "FETCH_DOCUMENTS is false"
    elif row and status == TokenDocument.Status.FAILED:
        note = "an operator can have them fetched again"
    return Figure(
        label=status.label,
        value=f"{row['count'] if row else 0:,}",
        note=note,
        page=f"{reverse('admin:tokens_tokendocument_changelist')}?status__exact={status}",
        is_alarming=overdue,
    )
