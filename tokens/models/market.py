"""Models of market data."""

from datetime import datetime, timedelta
from enum import IntEnum
from typing import Self

from django.db import models
from django.db.models import Count, F, Min, Q

from config.queue import Leased, LeasedQuerySet
from tokens.models.sorts import MARKET_SORTS
from tokens.models.token import Token

# The age up to which a launched token has the priority FRESH.
FRESH_WITHIN = timedelta(days=1)

# The columns of Market that a response of the provider sets; all are None as long as they are unknown.
QUOTE_COLUMNS = (
    "price_usd",
    "quote_price_usd",
    "market_cap",
    "volume_24h",
    "liquidity_usd",
    "tx_count_24h",
    "price_change_1h",
    "price_change_6h",
    "price_change_24h",
)


class RefreshPriority(IntEnum):
    """Priority classes of market refreshes, smaller first. The trigger of migration 0002 sets FRESH and OTHER."""

    VIEWED = 0
    FRESH = 1
    TRADED = 2
    OTHER = 3


class MarketQuerySet(LeasedQuerySet["Market"]):
    """Queries for markets by their refresh schedule."""

    def due(self, now: datetime) -> Self:
        """Return the markets that are due for a refresh; of those due at the same time, the newest token first."""
        return super().due(now).order_by("due_at", "-pk")

    def prioritize(self, now: datetime) -> int:
        """Make these rows due now with the priority of viewed tokens; return their number."""
        return self.update(due_at=now, viewed_at=now, priority=RefreshPriority.VIEWED)

    def count_due(self, now: datetime) -> dict[int, tuple[int, datetime]]:
        """Return priority -> number of due rows and the earliest due time, without priorities that have none due."""
        due = self.filter(priority__in=RefreshPriority).due(now).order_by().values("priority")
        counted = due.annotate(count=Count("pk"), since=Min("due_at")).values_list("priority", "count", "since")
        return {priority: (count, since) for priority, count, since in counted}


class Market(Leased):
    """A token's market data as of the provider's last response; beside the token because it changes frequently.

    A database trigger creates the row of each token. None is unknown; percentages are in percentage points.
    """

    QUEUE = "market"
    PARTS = tuple(Q(priority=priority) for priority in RefreshPriority)
    ENABLED_BY = ("MARKET_DATA",)

    token = models.OneToOneField(Token, models.CASCADE, primary_key=True, related_name="market")
    price_usd = models.FloatField(null=True)
    # USD for one whole unit of the paired token, from the same response.
    quote_price_usd = models.FloatField(null=True)
    market_cap = models.FloatField(null=True)
    volume_24h = models.FloatField(null=True)
    liquidity_usd = models.FloatField(null=True)
    tx_count_24h = models.BigIntegerField(null=True)
    price_change_1h = models.FloatField(null=True)
    price_change_6h = models.FloatField(null=True)
    price_change_24h = models.FloatField(null=True)
    # The time of the provider's response.
    updated_at = models.DateTimeField(null=True)

    # The refresh priority; smaller numbers are refreshed first.
    priority = models.SmallIntegerField(db_default=RefreshPriority.OTHER.value)
    # When the token was last viewed, to the minute.
    viewed_at = models.DateTimeField(null=True)
    # The provider does not have the pool: it is queried by token address.
    by_address = models.BooleanField(db_default=False)
    # Consecutive refreshes for which it had neither.
    attempts = models.SmallIntegerField(default=0, db_default=0, db_column="misses")

    objects = MarketQuerySet.as_manager()

    class Meta:
        indexes = [
            # Claims of due rows, one priority at a time; among those due at the same time, the newest token first.
            models.Index(F("priority").asc(), F("due_at").asc(), F("token").desc(), name="market_due"),
            # The sorts of lists.
            *(
                index
                for sort in MARKET_SORTS
                for index in (
                    models.Index(
                        sort.key(descending=True).desc(), F("token").desc(), name=f"market_{sort.column}_down"
                    ),
                    models.Index(sort.key(descending=False).asc(), F("token").asc(), name=f"market_{sort.column}_up"),
                )
            ),
        ]

    def __str__(self) -> str:
        return f"market of token {self.pk}"


class MarketPoint(models.Model):
    """A token's market data at one time: a row per provider response, retained for MARKET_HISTORY_DAYS."""

    token = models.ForeignKey(Token, models.CASCADE, db_index=False, related_name="market_points")
    at = models.DateTimeField()
    price_usd = models.FloatField()
    market_cap = models.FloatField(null=True)
    volume_24h = models.FloatField(null=True)
    liquidity_usd = models.FloatField(null=True)
    tx_count_24h = models.BigIntegerField(null=True)

    class Meta:
        indexes = [models.Index(fields=["token", "-at"], name="market_point_of_token")]

    def __str__(self) -> str:
        return f"market of token {self.token_id} at {self.at}"
