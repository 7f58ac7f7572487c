"""Market data models."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from config.postgresql.leased_queue import Leased, LeasedQuerySet
from tokens.models.sorts import MARKET_SORTS
from tokens.models.token import ADDRESS_LENGTH, Token
from tokens.models.trade import ExactNumericField

# Market columns that the provider's response sets; None while unknown.
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
# All market columns, from either source.
MARKET_COLUMNS = (
    *(*QUOTE_COLUMNS, "updated_at", "price_quote", "last_position", "last_trade_at", "trending"),
    *("curve_progress", "graduated_at"),
)


class Market(models.Model):
    """A token's market data, from its trades or the provider; beside the token because it changes frequently.

    A trigger creates each token's row (`search_and_market_rows.sql`), another one stores `markets.changed` for updates
    (`market_events.sql`). None is unknown; percentages are in percentage points.
    """

    token = models.OneToOneField(Token, models.CASCADE, primary_key=True, related_name="market")
    price_usd = models.FloatField(null=True)
    # USD for one whole paired token at the same time.
    quote_price_usd = models.FloatField(null=True)
    market_cap = models.FloatField(null=True)
    volume_24h = models.FloatField(null=True)
    liquidity_usd = models.FloatField(null=True)
    tx_count_24h = models.BigIntegerField(null=True)
    price_change_1h = models.FloatField(null=True)
    price_change_6h = models.FloatField(null=True)
    price_change_24h = models.FloatField(null=True)
    # When the provider responded, or trades last changed the row.
    updated_at = models.DateTimeField(null=True)
    # From trades: the pool's price in the quote token, as `PoolTrade.price`, and the position of the last trade or
    # liquidity change.
    price_quote = ExactNumericField(null=True)
    last_position = models.BigIntegerField(null=True)
    # The last trade that is no conversion.
    last_trade_at = models.DateTimeField(null=True)
    # The trending score as a number that sorts tokens alike at any later time; None without a trade.
    trending = models.FloatField(null=True)
    # Percentage of its bonding curve's quote threshold that the pool holds, rounded down: 100 only where the curve is
    # complete. None without a curve, and while its terms or the pool's price are unknown: for a declared curve until
    # its end.
    curve_progress = models.DecimalField(max_digits=9, decimal_places=6, null=True)
    # When a swap completed the curve, from the pool's account; for a declared curve, when an event moved the token into
    # a pool.
    graduated_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            # Tokens on a bonding curve, the closest to graduation first.
            models.Index(
                F("curve_progress").desc(),
                F("token").desc(),
                name="market_graduating",
                condition=Q(curve_progress__lt=100),
            ),
            # Trending tokens, among tokens with trades.
            models.Index(
                F("trending").desc(), F("token").desc(), name="market_trending", condition=Q(trending__isnull=False)
            ),
            # List sorts.
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


class ProviderRefresh(Leased):
    """A token's market data refresh by the provider; only tokens on MARKET_PROVIDER_CHAINS have one."""

    QUEUE = "market"
    ENABLED_BY = ("MARKET_PROVIDER_CHAINS",)

    token = models.OneToOneField(Token, models.CASCADE, primary_key=True, related_name="provider_refresh")

    objects = LeasedQuerySet["ProviderRefresh"].as_manager()

    class Meta:
        verbose_name_plural = "provider refreshes"
        indexes = [models.Index(fields=["due_at"], name="provider_refresh_due")]

    def __str__(self) -> str:
        return f"refresh of token {self.pk}"


class BondingCurve(models.Model):
    """A config account's terms, which never change and apply to all its pools.

    Prices are square roots in smallest quote units for one smallest token unit, times 2^64; see `CurveConfig`.
    """

    chain_id = models.BigIntegerField()
    # The config account; `curve_config` in launch facts.
    config = models.CharField(max_length=ADDRESS_LENGTH)
    start_sqrt_price = ExactNumericField()
    migration_sqrt_price = ExactNumericField()
    # The quote reserve that completes the curve, in smallest units.
    migration_threshold = ExactNumericField()
    # The segments in sequence: their upper prices and their liquidity.
    sqrt_prices = ArrayField(ExactNumericField())
    liquidities = ArrayField(ExactNumericField())
    read_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chain_id", "config"], name="bonding_curve_once")]

    def __str__(self) -> str:
        return f"curve of config {self.config}"
