"""Candle models: open, high, low and close of a token's pool price in a period, and the volume."""

from django.contrib.postgres.indexes import BrinIndex, OpClass
from django.db import models
from django.db.models import F

from tokens.models.token import Token
from tokens.models.trade import ExactNumericField

HOUR, DAY = 3600, 86_400


class CandleColumns(models.Model):
    """Columns of candles. Prices are `PoolTrade.price`, in USD times `PoolTrade.quote_usd`.

    Conversions count as prices. First and last position order the trades, so that candles with different trades
    of one period can be merged in any sequence.
    """

    # Tokens are never deleted, and a backfill writes millions of rows.
    token = models.ForeignKey(Token, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    # When the period begins, UTC.
    at = models.DateTimeField()
    first_position = models.BigIntegerField()
    last_position = models.BigIntegerField()
    open = ExactNumericField()
    high = ExactNumericField()
    low = ExactNumericField()
    close = ExactNumericField()
    # None if a trade in the period has no price in USD.
    open_usd = models.FloatField(null=True)
    high_usd = models.FloatField(null=True)
    low_usd = models.FloatField(null=True)
    close_usd = models.FloatField(null=True)
    # Smallest units of the quote token, without conversions.
    volume_quote = models.DecimalField(max_digits=78, decimal_places=0)
    # The sum over the trades with a known value, each rounded to 6 decimals.
    volume_usd = ExactNumericField()
    # Without conversions.
    buys = models.IntegerField()
    sells = models.IntegerField()

    class Meta:
        abstract = True


class MinuteCandle(CandleColumns):
    """A one-minute candle, partitioned by `at` and dropped after CANDLE_MINUTE_DAYS."""

    pk = models.CompositePrimaryKey("token_id", "at")

    class Meta:
        indexes = [
            # The minutes that leave a rolling sum. Rows are written in time order, except by backfills.
            BrinIndex(
                OpClass(F("at"), name="timestamptz_minmax_multi_ops"),
                name="minute_candle_by_time",
                pages_per_range=32,
                autosummarize=True,
            ),
        ]

    def __str__(self) -> str:
        return f"minute {self.at} of token {self.token_id}"


class Candle(CandleColumns):
    """A candle of an hour or a day, stored for good. Other intervals are folded from candles when read."""

    pk = models.CompositePrimaryKey("token_id", "seconds", "at")
    # HOUR or DAY.
    seconds = models.IntegerField()
    # Only for days: purchase payments less sale proceeds, in the quote token's smallest units, with conversions. None
    # in candles stored before version 0.3.0.
    net_quote = models.DecimalField(max_digits=78, decimal_places=0, null=True)

    def __str__(self) -> str:
        return f"{self.seconds} s from {self.at} of token {self.token_id}"
