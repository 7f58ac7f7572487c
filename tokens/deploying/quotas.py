"""How many orders of a partner key are taken on one chain in a day (UTC), and how many coins they may spend.

They are counted in PostgreSQL, where the orders are: whatever becomes of Redis, no order too many is taken. Dry runs
and repeated calls are no orders.
"""

from datetime import datetime, time, timedelta

from django.conf import settings
from django.db.models import Count, Sum

from accounts.models import PartnerKey
from config.http.json_client import Retryable
from tokens.models.deployment import Deployment, DeployQuota

_WEI_PER_COIN = 10**18


class QuotaExceeded(Retryable):
    """The key has ordered as much today as it may; `wait` is the seconds until the next day."""

    def __init__(self, wait: float) -> None:
        super().__init__("the day's deployments are used up")
        self.wait = wait


def check(deployment: Deployment, *, partner: PartnerKey) -> None:
    """Raise QuotaExceeded where an order that was just stored is one too many for the day of its `created_at`.

    Within its transaction, which is then to be rolled back. Orders of one key that come at once are counted one after
    another, each with those that were committed before it.
    """
    allowed = _allowed(partner, deployment.chain_id)
    if allowed is None and not deployment.value:
        return
    # Not the whole lock: the stored order refers to this row, as do those of others who wait here.
    PartnerKey.objects.select_for_update(no_key=True).get(pk=partner.pk)
    begin, end = _day(deployment.created_at)
    # By the index deployment_quota.
    ordered = Deployment.objects.filter(
        partner_key=partner, chain_id=deployment.chain_id, created_at__gte=begin, created_at__lt=end
    )
    today = ordered.aggregate(number=Count("pk"), spent=Sum("value"))
    over = allowed is not None and today["number"] > allowed
    # What is bought within a launch is the recipient's, and our wallet pays for it.
    if over or (deployment.value and today["spent"] > settings.DEPLOY_DAILY_DEV_BUY_ETH * _WEI_PER_COIN):
        raise QuotaExceeded((end - deployment.created_at).total_seconds())


def _allowed(partner: PartnerKey, chain_id: int) -> int | None:
    """What operators have set for the key and chain, else as many as it may make calls; None is any number."""
    own = DeployQuota.objects.filter(partner_key=partner, chain_id=chain_id).values_list("per_day", flat=True).first()
    if own is not None:
        return own
    usual: int = settings.RATE_LIMIT_DEPLOY
    return usual or None


def _day(moment: datetime) -> tuple[datetime, datetime]:
    begin = datetime.combine(moment.date(), time.min, tzinfo=moment.tzinfo)
    return begin, begin + timedelta(days=1)
