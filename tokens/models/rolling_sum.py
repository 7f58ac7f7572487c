"""Rolling sum models: a token's trades in the last 1, 6 and 24 hours, and its traders in the last day."""

from django.db import models

from tokens.models.token import Token
from tokens.models.trade import ExactNumericField

# The summed periods in seconds.
ROLLING_PERIODS = (3600, 21_600, 86_400)


class RollingSum(models.Model):
    """A token's trades in the period that ends now; a token without trades in it has no row.

    A period begins at a full minute: `RollingClock.rolled_to` less its seconds. Conversions are in no sum.
    """

    pk = models.CompositePrimaryKey("token_id", "seconds")
    token = models.ForeignKey(
        Token, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="rolling_sums"
    )
    # One of ROLLING_PERIODS.
    seconds = models.IntegerField()
    # The quote token's smallest units.
    volume_quote = models.DecimalField(max_digits=78, decimal_places=0)
    # As in candles.
    volume_usd = ExactNumericField()
    buys = models.IntegerField()
    sells = models.IntegerField()
    # Distinct known traders.
    traders = models.IntegerField()
    # The pool's price when the period begins, as `PoolTrade.price`.
    opening_price = ExactNumericField(null=True)
    # The same in USD at that time.
    opening_usd = models.FloatField(null=True)
    # It is the launch's starting price: no trade was before the period.
    opens_at_starting_price = models.BooleanField(db_default=False)
    # Only in the day's row: see `Market.trending`.
    trending = models.FloatField(null=True)

    def __str__(self) -> str:
        return f"{self.seconds} s of token {self.token_id}"


class RecentTrader(models.Model):
    """A token's trader in the last day."""

    pk = models.CompositePrimaryKey("token_id", "trader")
    token = models.ForeignKey(
        Token, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="recent_traders"
    )
    # Empty: all trades by unknown traders, which `RollingSum.traders` does not count.
    trader = models.BinaryField()
    # The last trade that is no conversion.
    last_at = models.DateTimeField()
    # Bought less sold, in USD, with the trending score's half-life, at `last_at`.
    net_usd = models.FloatField()

    class Meta:
        indexes = [
            # Rolling: the traders whose last trade leaves a period.
            models.Index(fields=["last_at"], name="recent_trader_by_time"),
        ]

    def __str__(self) -> str:
        return f"trader of token {self.token_id}"


class RollingClock(models.Model):
    """The full minute at which a chain's rolling sums end."""

    chain_id = models.BigIntegerField(primary_key=True)
    rolled_to = models.DateTimeField()

    def __str__(self) -> str:
        return f"chain {self.chain_id} rolled to {self.rolled_to}"
