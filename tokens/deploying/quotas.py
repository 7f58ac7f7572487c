"""Daily quotas (UTC) per chain: a key's deployments, and native coins spent by a key and by all keys together.

They are counted in PostgreSQL, where the deployments are: a loss of Redis lets no deployment exceed them. Dry runs and
replays don't count.
"""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from decimal import Decimal

from django.conf import settings
from django.db.models import Count, Q, Sum

from accounts.models import PartnerKey
from config.http.errors import PermanentError, RetryableError
from tokens.models.deployment import Deployment, DeployQuota, SpendingLimit

_WEI_PER_COIN = 10**18


class QuotaExceededError(RetryableError):
    """Raised when a daily quota for the key or its chain is used up; `wait` is the seconds until the next day."""

    def __init__(self, wait: float) -> None:
        super().__init__("the day's deployments are used up")
        self.wait = wait


class SpendingNotAllowedError(PermanentError):
    """Raised for a dev buy above a whole day's limit; `most` is the limit in ETH, 0 without both limits."""

    def __init__(self, most: Decimal) -> None:
        super().__init__(f"a dev buy of more than {most.normalize():f} ETH is not allowed")
        self.most = most


@dataclass(frozen=True, kw_only=True)
class _SpendingLimits:
    """The ETH that one key, and all keys together, may spend on a chain per day."""

    own: Decimal
    together: Decimal


def check_dev_buy(wei: int, *, chain_id: int, partner: PartnerKey) -> None:
    """Raise SpendingNotAllowedError for a dev buy above the daily limit of the key or its chain."""
    limits = _spending_limits(partner, chain_id)
    most = min(limits.own, limits.together)
    if wei > most * _WEI_PER_COIN:
        raise SpendingNotAllowedError(most)


def check_quota(deployment: Deployment, *, partner: PartnerKey) -> None:
    """Raise QuotaExceededError if a deployment that was just stored exceeds a quota on the day of its `created_at`.

    Call it within the transaction that stored the deployment, which must then be rolled back. Concurrent deployments by
    one key, and dev buys by all keys on one chain, are counted one after another, each with all that are committed.
    """
    allowed = _allowed(partner, deployment.chain_id)
    if allowed is None and not deployment.value:
        return
    # FOR NO KEY UPDATE: the stored deployment references this row, as do concurrent requests' deployments.
    PartnerKey.objects.select_for_update(no_key=True).get(pk=partner.pk)
    begin, end = _day(deployment.created_at)
    of_day = Deployment.objects.filter(chain_id=deployment.chain_id, created_at__gte=begin, created_at__lt=end)
    # By the index deployment_quota.
    own = of_day.filter(partner_key=partner).aggregate(number=Count("pk"), spent=Sum("value"))
    is_over = allowed is not None and own["number"] > allowed
    if deployment.value and not is_over:
        # The recipient gets the tokens that a launch buys, and the service's wallet pays for them.
        limits = _spending_limits(partner, deployment.chain_id, lock=True)
        # By the index deployment_spending.
        bought = of_day.filter(partner_key__isnull=False, value__gt=0).aggregate(spent=Sum("value"))
        is_over = own["spent"] > limits.own * _WEI_PER_COIN or bought["spent"] > limits.together * _WEI_PER_COIN
    if is_over:
        raise QuotaExceededError((end - deployment.created_at).total_seconds())


def _spending_limits(partner: PartnerKey, chain_id: int, *, lock: bool = False) -> _SpendingLimits:
    """Return the operators' limits, the key's at most DEPLOY_DAILY_DEV_BUY_ETH; locked until the commit."""
    rows = SpendingLimit.objects.filter(Q(partner_key=partner) | Q(partner_key=None), chain_id=chain_id)
    # All transactions lock the rows in the same sequence.
    rows = rows.select_for_update(no_key=True).order_by("pk") if lock else rows
    limit_by_key = {row.partner_key_id: row.eth_per_day for row in rows}
    own = min(limit_by_key.get(partner.pk, Decimal(0)), settings.DEPLOY_DAILY_DEV_BUY_ETH)
    return _SpendingLimits(own=own, together=limit_by_key.get(None, Decimal(0)))


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
