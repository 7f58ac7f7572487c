"""Metrics for deployments and deploy wallets at `GET /metrics`, from queries that take milliseconds."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from django.db.models import Count, Min
from prometheus_client import Metric

from config.watching.metrics import labelled_gauge
from tokens.deploying.sending.wallet_alerts import is_low_balance
from tokens.indexing.metrics import NEWEST
from tokens.installation.signing_wallets import signing_chains
from tokens.models import Deployment, DeploymentStatus, DeploySwitch, DeployWallet

_LATELY = timedelta(days=1)
# Deployments that still need work. A presale stays mined for as long as it sells.
_OPEN = (DeploymentStatus.ENQUEUED, DeploymentStatus.SUBMITTED, DeploymentStatus.MINED)


def deployment_metrics(now: datetime) -> Iterator[Metric]:
    """Yield unfinished deployments by chain, the newest by status, a day's failures, and pause flags."""
    open_rows = [*_open_by_chain(enqueued=True), *_open_by_chain(enqueued=False)]
    paused = dict(DeploySwitch.objects.values_list("chain_id", "paused"))
    chains = sorted({*signing_chains(), *paused, *(chain for chain, *_ in open_rows)})
    counts = {(chain, status): count for chain, status, count, _ in open_rows}
    yield labelled_gauge(
        "launchboard_deployments_open",
        "Deployments that are not listed yet, nor failed.",
        ("chain", "status"),
        {(chain, status): counts.get((chain, status), 0) for chain in chains for status in _OPEN},
    )
    since = dict.fromkeys(chains, now)
    for chain, status, _, oldest in open_rows:
        if status != DeploymentStatus.MINED:
            since[chain] = min(since[chain], oldest)
    yield labelled_gauge(
        "launchboard_deployments_oldest_seconds",
        "For how long the oldest deployment of the chain has waited to be in a block; 0 without any.",
        "chain",
        {chain: (now - oldest).total_seconds() for chain, oldest in since.items()},
    )
    newest = Counter(Deployment.objects.order_by("-pk").values_list("status", flat=True)[:NEWEST])
    yield labelled_gauge(
        "launchboard_deployments_newest",
        f"Of the newest {NEWEST:,} deployments, how many are in each state.",
        "status",
        {status: newest[status] for status in DeploymentStatus},
    )
    failed = Deployment.objects.filter(status=DeploymentStatus.FAILED, updated_at__gte=now - _LATELY).values_list(
        "chain_id"
    )
    failures = dict(failed.order_by().annotate(count=Count("pk")))
    yield labelled_gauge(
        "launchboard_deployments_failed",
        "How many deployments failed within a day, and were not tried again since.",
        "chain",
        {chain: failures.get(chain, 0) for chain in sorted({*chains, *failures})},
    )
    yield labelled_gauge(
        "launchboard_deployments_paused",
        "1 while an operator has paused deployments on the chain.",
        "chain",
        {chain: paused.get(chain, False) for chain in chains},
    )


def wallet_metrics(now: datetime) -> Iterator[Metric]:
    """Yield balances for wallets with a signer, and flags for wallets that need an operator."""
    rows = list(DeployWallet.objects.filter(signable=True).order_by("chain_id", "address"))
    labels = ("chain", "address")
    named = {(row.chain_id, row.address): row for row in rows}
    yield labelled_gauge(
        "launchboard_deploy_wallet_balance_wei",
        "Balance of the wallet at the last query of its node.",
        labels,
        {name: None if row.balance is None else float(row.balance) for name, row in named.items()},
    )
    yield labelled_gauge(
        "launchboard_deploy_wallet_low",
        "1 while that is less than DEPLOY_LOW_BALANCE_ETH.",
        labels,
        {name: is_low_balance(row.balance) for name, row in named.items()},
    )
    yield labelled_gauge(
        "launchboard_deploy_wallet_trouble",
        "1 while something keeps the wallet from sending, or soon will.",
        labels,
        {name: bool(row.alerts) for name, row in named.items()},
    )


def _open_by_chain(*, enqueued: bool) -> Iterable[tuple[int, str, int, datetime]]:
    """Return (chain, status, count, oldest) rows, by the index on queued or in-flight deployments."""
    rows = Deployment.objects.filter(status=DeploymentStatus.ENQUEUED)
    if not enqueued:
        rows = Deployment.objects.filter(final_at=None, status__in=_OPEN).exclude(status=DeploymentStatus.ENQUEUED)
    grouped = rows.order_by().values_list("chain_id", "status")
    return grouped.annotate(count=Count("pk"), oldest=Min("created_at"))
