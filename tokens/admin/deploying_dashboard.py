"""The panel of the operators' dashboard about deployments: what is on its way, what failed, and what holds it back."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Max, Min
from django.urls import reverse

from config.operators.admin_pages import change_page
from config.operators.dashboard import Figure, Panel, ago
from tokens.deploying.sending.wallets import is_low
from tokens.following.chain_status import chain_name
from tokens.models import Deployment, DeploySwitch, DeployWallet

_Status = Deployment.Status
# What is sent is mined within seconds, or replaced until it is: so old, it wants somebody.
_PATIENCE = timedelta(minutes=5)
# Failures of longer ago alarm nobody.
_LATELY = timedelta(days=1)
_WALLETS_SHOWN = 10
_WEI = Decimal(10**18)


@dataclass
class _InFlight:
    """What is on its way on one chain: how many by status, and since when the oldest waits."""

    counts: dict[str, int] = field(default_factory=dict)
    oldest: datetime | None = None


def deployments(now: datetime) -> Iterable[Panel]:
    """Chains with something in flight, failures, wallets in trouble, and pauses."""
    wallets = list(DeployWallet.objects.order_by("chain_id", "pk"))
    if not wallets and not Deployment.objects.exists():
        return
    chains = (_chain(chain_id, found, now) for chain_id, found in sorted(_in_flight().items()))
    yield Panel(
        title="Deployments in flight",
        figures=(*chains, _failures(now), *_wallets(wallets), *_pauses()),
        note="Presales are in flight until their sale ends, and are not counted.",
    )


def _in_flight() -> dict[int, _InFlight]:
    """Chain id -> what is on its way there: by the indexes of what waits and of what is looked after."""
    waiting = Deployment.objects.filter(status=_Status.ENQUEUED)
    sent = Deployment.objects.filter(status__in=(_Status.SUBMITTED, _Status.MINED), final_at__isnull=True)
    found: dict[int, _InFlight] = {}
    for rows in (waiting, sent.exclude(status=_Status.MINED, expected_address="")):
        groups = rows.order_by().values_list("chain_id", "status")
        for chain_id, status, count, oldest in groups.annotate(count=Count("pk"), oldest=Min("created_at")):
            chain = found.setdefault(chain_id, _InFlight())
            chain.counts[status] = count
            chain.oldest = min(chain.oldest or oldest, oldest)
    return found


def _chain(chain_id: int, found: _InFlight, now: datetime) -> Figure:
    counts = (f"{found.counts[status]:,} {status}" for status in _Status.values if status in found.counts)
    return Figure(
        label=chain_name(chain_id),
        value=", ".join(counts),
        note=f"the oldest was ordered {ago(found.oldest, now)}",
        page=f"{reverse('admin:tokens_deployment_changelist')}?chain_id={chain_id}",
        is_alarming=found.oldest is not None and now - found.oldest > _PATIENCE,
    )


def _failures(now: datetime) -> Figure:
    lately = Deployment.objects.filter(status=_Status.FAILED, updated_at__gte=now - _LATELY)
    failed = lately.aggregate(count=Count("pk"), last=Max("updated_at"))
    count, last = failed["count"], failed["last"]
    return Figure(
        label="Failed",
        value=f"{count:,} in the last day" if count else "none in the last day",
        note=f"last {ago(last, now)}; an operator can try them again" if count else "",
        page=f"{reverse('admin:tokens_deployment_changelist')}?status__exact={_Status.FAILED}",
        is_alarming=bool(count),
    )


def _wallets(wallets: list[DeployWallet]) -> Iterable[Figure]:
    """How many can send, and those in trouble."""
    able = [wallet for wallet in wallets if wallet.enabled and wallet.signable]
    troubled = [wallet for wallet in able if wallet.trouble or is_low(wallet.balance)]
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
            note="; ".join(wallet.trouble.splitlines()) or "it runs low",
            page=change_page(wallet),
            is_alarming=True,
        )


def _pauses() -> Iterable[Figure]:
    for switch in DeploySwitch.objects.filter(paused=True).order_by("chain_id"):
        yield Figure(
            label=f"{chain_name(switch.chain_id)}, paused",
            value="takes and sends none",
            note=switch.reason,
            page=change_page(switch),
        )
