"""Dashboard panel for deployments: in flight, failures, wallets and pause flags."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Max, Min
from django.urls import reverse

from config.operators.admin_pages import change_url
from config.operators.dashboard import Figure, Panel, time_ago
from tokens.deploying.sending.wallet_alerts import is_low_balance
from tokens.installation.installed_registry import chain_name
from tokens.models import Deployment, DeploymentStatus, DeploySwitch, DeployWallet

_TITLE = "Deployments in flight"
# Transactions are mined or replaced within seconds: an older one needs an operator.
_OVERDUE_AFTER = timedelta(minutes=5)
# Older failures raise no alarm.
_RECENT = timedelta(days=1)
_WALLETS_SHOWN = 10
_WEI = Decimal(10**18)


@dataclass
class _InFlight:
    """Deployments in flight on one chain: their number by status, and the oldest one's time."""

    counts: dict[str, int] = field(default_factory=dict)
    oldest: datetime | None = None


def deployments(now: datetime) -> Iterable[Panel]:
    """Yield the panel: chains with deployments in flight, failures, wallets with errors, and pause flags."""
    wallets = list(DeployWallet.objects.order_by("chain_id", "pk"))
    if not wallets and not Deployment.objects.exists():
        text = "No wallet yet: set DEPLOYER_KEYS_<chainId>, key files or a remote signer, and start a worker."
        yield Panel(title=_TITLE, figures=tuple(_pauses()), empty_text=text)
        return
    chains = (_chain(chain_id, in_flight, now) for chain_id, in_flight in sorted(_in_flight().items()))
    yield Panel(
        title=_TITLE,
        figures=(*chains, _failures(now), *_wallets(wallets), *_pauses()),
        note="Presales are in flight until their sale ends, and are not counted.",
    )


def _in_flight() -> dict[int, _InFlight]:
    """Return chain id -> deployments in flight, by the indexes on queued and on watched deployments."""
    waiting = Deployment.objects.filter(status=DeploymentStatus.ENQUEUED)
    unfinished = Deployment.objects.filter(
        status__in=(DeploymentStatus.SUBMITTED, DeploymentStatus.MINED), final_at__isnull=True
    )
    in_flight: dict[int, _InFlight] = {}
    for rows in (waiting, unfinished.exclude(status=DeploymentStatus.MINED, expected_address="")):
        groups = rows.order_by().values_list("chain_id", "status")
        for chain_id, status, count, oldest in groups.annotate(count=Count("pk"), oldest=Min("created_at")):
            chain = in_flight.setdefault(chain_id, _InFlight())
            chain.counts[status] = count
            chain.oldest = min(chain.oldest or oldest, oldest)
    return in_flight


def _chain(chain_id: int, in_flight: _InFlight, now: datetime) -> Figure:
    counts = (
        f"{in_flight.counts[status]:,} {status}" for status in DeploymentStatus.values if status in in_flight.counts
    )
    return Figure(
        label=chain_name(chain_id),
        value=", ".join(counts),
        note=f"the oldest was accepted {time_ago(in_flight.oldest, now)}",
        page=f"{reverse('admin:tokens_deployment_changelist')}?chain_id={chain_id}",
        is_alarming=in_flight.oldest is not None and now - in_flight.oldest > _OVERDUE_AFTER,
    )


def _failures(now: datetime) -> Figure:
    lately = Deployment.objects.filter(status=DeploymentStatus.FAILED, updated_at__gte=now - _RECENT)
    failed = lately.aggregate(count=Count("pk"), last=Max("updated_at"))
    count, last_at = failed["count"], failed["last"]
    return Figure(
        label="Failed",
        value=f"{count:,} in the last day" if count else "none in the last day",
        note=f"last {time_ago(last_at, now)}; an operator can retry them" if count else "",
        page=f"{reverse('admin:tokens_deployment_changelist')}?status__exact={DeploymentStatus.FAILED}",
        is_alarming=bool(count),
    )


def _wallets(wallets: list[DeployWallet]) -> Iterable[Figure]:
    """Yield the number of wallets that can send, and each wallet with errors."""
    able = [wallet for wallet in wallets if wallet.enabled and wallet.signable]
    troubled = [wallet for wallet in able if wallet.alerts or is_low_balance(wallet.balance)]
    page = reverse("admin:tokens_deploywallet_changelist")
    yield Figure(
        label="Wallets",
        value=f"{len(able):,} of {len(wallets):,} may send",
        note=f"{len(troubled):,} in trouble" if troubled else "",
        page=page,
        is_alarming=not able,
    )
    for wallet in troubled[:_WALLETS_SHOWN]:
        balance = "unknown" if wallet.balance is None else f"{wallet.balance / _WEI:.4f} left"
        yield Figure(
            label=f"{wallet.address[:8]}... on {chain_name(wallet.chain_id)}",
            value=balance,
            note="; ".join(wallet.alert_lines) or "it runs low",
            page=change_url(wallet),
            is_alarming=True,
        )


def _pauses() -> Iterable[Figure]:
    """Yield the number of paused chains, which links to the list where a chain is paused, and each paused chain."""
    paused = list(DeploySwitch.objects.filter(paused=True).order_by("chain_id"))
    page = reverse("admin:tokens_deployswitch_changelist")
    yield Figure(label="Pauses", value=f"{len(paused):,}" if paused else "none", page=page)
    for switch in paused:
        yield Figure(
            label=f"{chain_name(switch.chain_id)}, paused",
            value="accepts and sends none",
            note=switch.reason,
            page=change_url(switch),
        )
