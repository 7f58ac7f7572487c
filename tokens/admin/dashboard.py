"""Dashboard panels of launches, indexing, documents and market data."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Max, Min, Q
from django.db.models.functions import TruncHour
from django.urls import reverse
from django.utils import timezone
from redis.exceptions import RedisError

from config.operators.dashboard import Chart, Figure, Panel, time_ago
from tokens.indexing.documents.fetching import LEASE
from tokens.installation.installed_launchpads import ChainLaunchpad, launchpad_of, list_launchpads
from tokens.installation.installed_registry import registry
from tokens.market import price_comparison, provider_rate_limit
from tokens.models import DocumentStatus, IndexRequest, IndexRequestStatus, ProviderRefresh, Token, TokenDocument

HOURS = 48
_HOUR = timedelta(hours=1)
# Older failures raise no alarm.
_RECENT = timedelta(days=1)
# Beat sweeps every few seconds: a request that is overdue by this many leases has no worker.
_LEASES_UNTIL_ALARM = 2
# A document that is overdue by this time has no worker.
_DOCUMENTS_OVERDUE_AFTER = 5 * LEASE
_LONGEST_ERROR = 120

_PENDING, _WRITTEN = Q(status="pending"), Q(status__in=("indexed", "confirmed"))


def launches(now: datetime) -> Iterable[Panel]:
    """Yield the panel of listed tokens by the hour of their block."""
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    hours = [this_hour - _HOUR * back for back in reversed(range(HOURS))]
    listed = Token.objects.listed().filter(deployed_at__gte=hours[0]).order_by()
    counted = listed.annotate(hour=TruncHour("deployed_at", tzinfo=UTC)).values("hour").annotate(count=Count("pk"))
    counts = dict(counted.values_list("hour", "count"))
    bars = tuple((f"{timezone.localtime(hour):%d %b, %H:%M}", counts.get(hour, 0)) for hour in hours)
    last, before = bars[HOURS // 2 :], bars[: HOURS // 2]
    yield Panel(
        title="Launches",
        empty_text="" if counts else "No launch in 48 hours: manage.py follow stores them; Following shows its chains.",
        chart=Chart(title="Launches per hour, without blocked ones", bars=bars, start=bars[0][0], end="now"),
        figures=(
            Figure(label="The last 24 hours", value=_sum(last), page=reverse("admin:tokens_token_changelist")),
            Figure(label="The 24 hours before", value=_sum(before)),
        ),
    )


def launchpads(now: datetime) -> Iterable[Panel]:
    """Yield the panel of launchpads on each chain with a node: launches, contracts, and whether they are indexed."""
    listed = Token.objects.listed().order_by().values("chain_id", "generation")
    last_day = Count("pk", filter=Q(deployed_at__gte=now - _RECENT))
    counts, of_last_day = Counter[tuple[int, str]](), Counter[tuple[int, str]]()
    for chain_id, generation, count, recent in listed.annotate(count=Count("pk"), recent=last_day).values_list(
        "chain_id", "generation", "count", "recent"
    ):
        key = chain_id, launchpad_of(generation).name
        counts[key] += count
        of_last_day[key] += recent
    undecodable = IndexRequest.objects.filter(undecodable=True).order_by()
    of_contracts = Counter[tuple[int, str, str]]()
    for *emitter, count in undecodable.values_list("chain_id", "launchpad", "contract").annotate(count=Count("pk")):
        of_contracts[*emitter] += count
    on_chains = [each for each in list_launchpads() if each.chain.chain_id in settings.RPC_URLS]
    keys = [(each.chain.chain_id, each.launchpad.name) for each in on_chains]
    yield Panel(
        title="Launchpads",
        figures=tuple(
            figure
            for key, each in zip(keys, on_chains, strict=True)
            for figure in (
                _launchpad_figure(each, count=counts[key], last_day=of_last_day[key]),
                *_undecodable_figures(each, {who[2]: count for who, count in of_contracts.items() if who[:2] == key}),
            )
        ),
        note="The setting LAUNCHPADS_<chainId> is the switch: it names those that are indexed. Restart after a change.",
        empty_text="" if settings.RPC_URLS else "No node yet: set RPC_URLS_<chainId>.",
    )


def indexing(now: datetime) -> Iterable[Panel]:
    """Yield the panels of index requests, and of the nodes' state as seen by them."""
    groups = IndexRequest.objects.order_by().values("chain_id", "status")
    rows: list[Any] = list(
        groups.annotate(
            count=Count("pk"),
            due=Min("due_at", filter=_PENDING),
            requested=Min("created_at", filter=_PENDING),
            written=Max("updated_at", filter=_WRITTEN),
            outage=Max("last_error", filter=_PENDING & Q(node_outage=True)),
            # Without requests from public pages, which may be for any hash.
            last=Max("updated_at", filter=Q(from_page=False)),
        )
    )
    yield _requests(rows, now)
    yield _nodes(rows, now)


def documents(now: datetime) -> Iterable[Panel]:
    """Yield the panel of token documents by status."""
    groups = TokenDocument.objects.order_by().values("status").annotate(count=Count("pk"), due=Min("due_at"))
    rows: dict[str, Any] = {row["status"]: row for row in groups}
    figures = tuple(_document_figure(status, rows.get(status), now) for status in DocumentStatus if rows)
    text = "No document yet: launches on Solana name them; set RPC_URLS_<chainId> for Solana."
    yield Panel(title="Documents of tokens", figures=figures, empty_text="" if rows else text)


def market_data(now: datetime) -> Iterable[Panel]:
    """Yield the panel of the market-data provider's state, its refreshes that are due, and prices that differ."""
    figures = [_provider_figure()]
    if settings.MARKET_PROVIDER_CHAINS:
        size = ProviderRefresh.objects.measure(now)
        note = f"the first since {time_ago(size.since, now)}" if size.since else ""
        figures.append(Figure(label="Refreshes", value=f"{size.depth:,} due" if size.depth else "none due", note=note))
    if settings.MARKET_COMPARE_PERCENT:
        figures.append(_comparison_figure())
    yield Panel(title="Market data", figures=tuple(figures))


def _launchpad_figure(each: ChainLaunchpad, *, count: int, last_day: int) -> Figure:
    chain_id, name = each.chain.chain_id, each.launchpad.name
    addresses = ", ".join(each.contracts)
    state = f"{last_day:,} in the last 24 hours" if each.is_indexed else f"off: not in LAUNCHPADS_{chain_id}"
    return Figure(
        label=f"{each.launchpad.title} on {each.chain.name}",
        value=f"{count:,} launch{'' if count == 1 else 'es'}",
        note=f"{state}; {'contract' if len(each.contracts) == 1 else 'contracts'} {addresses}",
        page=f"{reverse('admin:tokens_token_changelist')}?chain_id={chain_id}&launchpad={name}",
    )


def _undecodable_figures(each: ChainLaunchpad, contracts: Mapping[str, int]) -> Iterator[Figure]:
    """Yield the transactions with logs of each contract that can't be decoded, by contract."""
    for contract, count in sorted(contracts.items()):
        yield Figure(
            label=f"{each.launchpad.title} on {each.chain.name}: undecodable logs",
            value=f"{count:,} transaction{'' if count == 1 else 's'}",
            note=f"by {contract}: was the contract upgraded?",
            page=f"{reverse('admin:tokens_indexrequest_changelist')}?undecodable__exact=1&chain_id={each.chain.chain_id}&contract__exact={contract}",
            is_alarming=True,
        )


def _sum(bars: tuple[tuple[str, int], ...]) -> str:
    return f"{sum(value for _, value in bars):,}"


def _requests(rows: list[Any], now: datetime) -> Panel:
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row["status"]] += row["count"]
    pending = [row for row in rows if row["status"] == "pending"]
    overdue = min((row["due"] for row in pending), default=now) < now - _requests_overdue_after()
    oldest = f"the oldest requested {time_ago(min(row['requested'] for row in pending), now)}" if pending else ""
    # Older failures remain: a transaction without a launch can never be indexed.
    failed_lately = any(row["status"] == "failed" and row["last"] and now - row["last"] < _RECENT for row in rows)
    note = f"{oldest}; overdue: are a worker and beat running?" if overdue else oldest
    notes = {"pending": note, "indexed": "until their block is final", "failed": "an operator can index them again"}
    return Panel(
        title="Index requests",
        empty_text="" if rows else "No request yet: callers request transactions by POST /api/tokens/index.",
        figures=tuple(
            Figure(
                label=status.label,
                value=f"{counts[status]:,}",
                note=notes.get(status, "") if counts[status] else "",
                page=f"{reverse('admin:tokens_indexrequest_changelist')}?status__exact={status}",
                is_alarming=overdue if status == "pending" else status == "failed" and failed_lately,
            )
            for status in IndexRequestStatus
        ),
    )


def _nodes(rows: list[Any], now: datetime) -> Panel:
    return Panel(
        title="Nodes",
        figures=tuple(
            _node_figure(chain_id, [row for row in rows if row["chain_id"] == chain_id], now)
            for chain_id in settings.RPC_URLS
        ),
        note="As seen by index requests, which are retried automatically.",
        empty_text="" if settings.RPC_URLS else "No node yet: set RPC_URLS_<chainId>.",
    )


def _node_figure(chain_id: int, rows: list[Any], now: datetime) -> Figure:
    chain = registry().chains.get(chain_id)
    count = len(settings.RPC_URLS[chain_id])
    written = max((row["written"] for row in rows if row["written"]), default=None)
    outage = next((row["outage"] for row in rows if row["outage"]), "")
    return Figure(
        label=chain.name if chain else f"Chain {chain_id}",
        value=f"{count} node{'s' if count > 1 else ''}",
        note=f"last answer written {time_ago(written, now)}"
        + (f"; deferred: {outage[:_LONGEST_ERROR]}" if outage else ""),
        page=f"{reverse('admin:tokens_indexrequest_changelist')}?chain_id={chain_id}",
        is_alarming=bool(outage),
    )


def _provider_figure() -> Figure:
    label = "Provider"
    if not settings.MARKET_PROVIDER_CHAINS and not settings.MARKET_COMPARE_PERCENT:
        return Figure(label=label, value="not used", note="market data comes from the chains' own trades")
    try:
        open_for = provider_rate_limit.CIRCUIT_BREAKER.seconds_left()
        failures = provider_rate_limit.CIRCUIT_BREAKER.count_failures()
    except RedisError:
        return Figure(label=label, value="unknown", note="Redis does not answer", is_alarming=True)
    if open_for:
        note = f"failures in a row: {failures}" if failures else "rate limited, or the API key was rejected"
        return Figure(label=label, value=f"back-off for {open_for:.0f} s", note=note, is_alarming=True)
    return Figure(label=label, value="in use", note=f"up to {settings.MARKET_CALLS_PER_MINUTE} calls a minute")


def _comparison_figure() -> Figure:
    label = "Prices beside the provider's"
    try:
        differing = price_comparison.read_differences()
    except RedisError:
        return Figure(label=label, value="unknown", note="Redis does not answer", is_alarming=True)
    examples = ", ".join(f"{each.symbol} on chain {each.chain_id} by {each.percent:.0f} %" for each in differing[:3])
    return Figure(
        label=label,
        value=f"{len(differing)} differ",
        note=f"by more than {settings.MARKET_COMPARE_PERCENT:g} %" + (f": {examples}" if examples else ""),
        is_alarming=bool(differing),
    )


def _requests_overdue_after() -> timedelta:
    return timedelta(seconds=settings.INDEX_LEASE_SECONDS * _LEASES_UNTIL_ALARM)


def _document_figure(status: DocumentStatus, row: Any, now: datetime) -> Figure:
    is_pending = status == DocumentStatus.PENDING
    overdue = bool(is_pending and row and settings.FETCH_DOCUMENTS and row["due"] < now - _DOCUMENTS_OVERDUE_AFTER)
    note = ""
    if overdue:
        note = f"the first due {time_ago(row['due'], now)}: are a worker and beat running?"
    elif is_pending and row and not settings.FETCH_DOCUMENTS:
        note = "FETCH_DOCUMENTS is false"
    elif row and status == DocumentStatus.FAILED:
        note = "an operator can fetch them again"
    return Figure(
        label=status.label,
        value=f"{row['count'] if row else 0:,}",
        note=note,
        page=f"{reverse('admin:tokens_tokendocument_changelist')}?status__exact={status}",
        is_alarming=overdue,
    )
