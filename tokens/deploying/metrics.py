"""What `GET /metrics` tells of deployments and the wallets that send them: what a scrape reads in milliseconds."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from django.db.models import Count, Min
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from tokens.deploying.sending.wallets import is_low
from tokens.following.metrics import NEWEST
from tokens.installation.installed_signers import signing_chains
from tokens.models import Deployment, DeploySwitch, DeployWallet

Status = Deployment.Status

_LATELY = timedelta(days=1)
# What somebody is still to do something about. A presale stays mined for as long as it sells.
_OPEN = (Status.ENQUEUED, Status.SUBMITTED, Status.MINED)


def deployments(now: datetime) -> Iterator[Metric]:
    """Orders that are not done, by chain; the newest by status; and where operators have paused them."""
    found = [*_open_by_chain(enqueued=True), *_open_by_chain(enqueued=False)]
    paused = dict(DeploySwitch.objects.values_list("chain_id", "paused"))
    chains = sorted({*signing_chains(), *paused, *(chain for chain, *_ in found)})
    counts = {(chain, status): count for chain, status, count, _ in found}
    yield _gauge(
        "launchboard_deployments_open",
        "Deployments that are not listed yet, nor failed.",
        ("chain", "status"),
        (((chain, status), counts.get((chain, status), 0)) for chain in chains for status in _OPEN),
    )
    since = dict.fromkeys(chains, now)
    for chain, status, _, oldest in found:
        if status != Status.MINED:
            since[chain] = min(since[chain], oldest)
    yield _gauge(
        "launchboard_deployments_oldest_seconds",
        "For how long the oldest deployment of the chain has waited to be in a block; 0 without any.",
        ("chain",),
        (((chain,), (now - oldest).total_seconds()) for chain, oldest in since.items()),
    )
    newest = Counter(Deployment.objects.order_by("-pk").values_list("status", flat=True)[:NEWEST])
    yield _gauge(
        "launchboard_deployments_newest",
        f"Of the newest {NEWEST:,} deployments, how many are in each state.",
        ("status",),
        (((status,), newest[status]) for status in Status),
    )
    failed = Deployment.objects.filter(status=Status.FAILED, updated_at__gte=now - _LATELY).values_list("chain_id")
    failures = dict(failed.order_by().annotate(count=Count("pk")))
    yield _gauge(
        "launchboard_deployments_failed",
        "How many deployments failed within a day, and were not tried again since.",
        ("chain",),
        (((chain,), failures.get(chain, 0)) for chain in sorted({*chains, *failures})),
    )
    yield _gauge(
        "launchboard_deployments_paused",
        "1 while an operator has paused deployments on the chain.",
        ("chain",),
        (((chain,), paused.get(chain, False)) for chain in chains),
    )


def wallets(now: datetime) -> Iterator[Metric]:
    """What the wallets own that somebody can sign for, and which of them need an operator."""
    rows = list(DeployWallet.objects.filter(signable=True).order_by("chain_id", "address"))
    labels = ("chain", "address")
    named = [((row.chain_id, row.address), row) for row in rows]
    yield _gauge(
        "launchboard_deploy_wallet_balance_wei",
        "What the wallet owned when its node was last asked.",
        labels,
        ((name, float(row.balance)) for name, row in named if row.balance is not None),
    )
    yield _gauge(
        "launchboard_deploy_wallet_low",
        "1 while that is less than DEPLOY_LOW_BALANCE_ETH.",
        labels,
        ((name, is_low(row.balance)) for name, row in named),
    )
    yield _gauge(
        "launchboard_deploy_wallet_trouble",
        "1 while something keeps the wallet from sending, or soon will.",
        labels,
        ((name, bool(row.trouble)) for name, row in named),
    )


def _open_by_chain(*, enqueued: bool) -> Iterable[tuple[int, str, int, datetime]]:
    """(Chain, status, how many, since when the oldest), along the index of what waits, or that of what is in flight."""
    rows = Deployment.objects.filter(status=Status.ENQUEUED)
    if not enqueued:
        rows = Deployment.objects.filter(final_at=None, status__in=_OPEN).exclude(status=Status.ENQUEUED)
    grouped = rows.order_by().values_list("chain_id", "status")
    return grouped.annotate(count=Count("pk"), oldest=Min("created_at"))


def _gauge(
    name: str, text: str, labels: tuple[str, ...], numbers: Iterable[tuple[tuple[object, ...], float]]
) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily(name, text, labels=labels)
    for values, number in numbers:
        gauge.add_metric([str(value) for value in values], number)
    return gauge
