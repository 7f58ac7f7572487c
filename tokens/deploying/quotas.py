"""Daily quotas (UTC) per partner key and chain: number of deployments, and native coins spent.

They are counted in PostgreSQL, where the deployments are: loss of Redis never lets one too many through. Dry runs and
replays don't count.
"""

from datetime import datetime, time, timedelta

from django.conf import settings
from django.db.models import Count, Sum

from accounts.models import PartnerKey
from config.http.errors import RetryableError
from tokens.models.deployment import Deployment, DeployQuota

_WEI_PER_COIN = 10**18


class QuotaExceededError(RetryableError):
    """Raised when the key's daily quota is used up; `wait` is the seconds until the next day."""

    def __init__(self, wait: float) -> None:
        super().__init__("the day's deployments are used up")
        self.wait = wait


def check_quota(deployment: Deployment, *, partner: PartnerKey) -> None:
    """Raise QuotaExceededError if a deployment that was just stored exceeds the quota of the day of its `created_at`.

    Call it within the transaction that stored the deployment, which must then be rolled back. Concurrent deployments of
    one key are counted one after another, each with those committed before it.
    """
    allowed = _allowed(partner, deployment.chain_id)
    if allowed is None and not deployment.value:
        return
    # FOR NO KEY UPDATE: the stored deployment references this row, as do those of concurrent requests.
    PartnerKey.objects.select_for_update(no_key=True).get(pk=partner.pk)
    begin, end = _day(deployment.created_at)
    # By the index deployment_quota.
    of_day = Deployment.objects.filter(
        partner_key=partner, chain_id=deployment.chain_id, created_at__gte=begin, created_at__lt=end
    )
    today = of_day.aggregate(number=Count("pk"), spent=Sum("value"))
    over = allowed is not None and today["number"] > allowed
    # The recipient gets what is bought within a launch, and the service's wallet pays for it.
    if over or (deployment.value and today["spent"] > settings.DEPLOY_DAILY_DEV_BUY_ETH * _WEI_PER_COIN):
        raise QuotaExceededError((end - deployment.created_at).total_seconds())


def _allowed(partner: PartnerKey, chain_id: int) -> int | None:
    """Return the operators' limit for the key and chain, else the daily call limit; None means unlimited."""
    own = DeployQuota.objects.filter(partner_key=partner, chain_id=chain_id).values_list("per_day", flat=True).first()
    if own is not None:
        return own
    usual: int = settings.RATE_LIMIT_DEPLOY
    return usual or None


def _day(moment: datetime) -> tuple[datetime, datetime]:
    begin = datetime.combine(moment.date(), time.min, tzinfo=moment.tzinfo)
    return begin, begin + timedelta(days=1)
