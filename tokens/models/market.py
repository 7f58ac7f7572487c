"""What tokens are worth."""

from django.db import models
from django.db.models import F
from django.db.models.functions import Now

from tokens.market.refresh_schedule import Priority
from tokens.models.querysets import MarketQuerySet
from tokens.models.sorts import MARKET_SORTS
from tokens.models.token import Token


class Market(models.Model):
    """What a token is worth, as the market-data provider said last; beside the token because it changes all the time.

    Every token has its row: a trigger of the database makes it. None is unknown; percentages are in percent points.
    """

    token = models.OneToOneField(Token, models.CASCADE, primary_key=True, related_name="market")
    price_usd = models.FloatField(null=True)
    # USD for one whole unit of the paired token, from the same answer.
    quote_price_usd = models.FloatField(null=True)
    market_cap = models.FloatField(null=True)
    volume_24h = models.FloatField(null=True)
    liquidity_usd = models.FloatField(null=True)
    tx_count_24h = models.BigIntegerField(null=True)
    price_change_1h = models.FloatField(null=True)
    price_change_6h = models.FloatField(null=True)
    price_change_24h = models.FloatField(null=True)
    # When the provider said so.
    updated_at = models.DateTimeField(null=True)

    # When the provider is to be asked (again); a worker that asks puts it off by a lease.
    due_at = models.DateTimeField(db_default=Now())
    # Who comes first of those that are due, the smaller number: see market_schedule.
    priority = models.SmallIntegerField(db_default=Priority.OTHER.value)
    # When somebody looked at the token, to the minute.
    viewed_at = models.DateTimeField(null=True)
    # The provider doesn't know the pool: it is asked for the token.
    by_address = models.BooleanField(db_default=False)
    # How many times in a row it knew neither.
    misses = models.SmallIntegerField(db_default=0)

    objects = MarketQuerySet.as_manager()

    class Meta:
        indexes = [
            # Claiming what is due, one priority at a time, the newest token first of those due at once.
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
    """What a token was worth at one time: a line for each answer of the provider, kept for MARKET_HISTORY_DAYS."""

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
