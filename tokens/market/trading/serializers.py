"""Parameters and responses for a token's trades and candles."""

from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from config.api.fields import FlagField, PriceBarSerializer, WeiField, WholeNumberField
from tokens.catalogue.list_parameters import PageQuery, UnixTimeField
from tokens.catalogue.serializers import NullableNumber, NullableText
from tokens.market.trading.candle_pages import INTERVALS, NO_END


class TradesQuery(PageQuery):
    """Page of trades."""

    limit = WholeNumberField(min_value=1, max_value=100, default=50)


class TradeSerializer(serializers.Serializer[Any]):
    """A swap in the token's pool."""

    id = serializers.IntegerField(help_text="Unique for the token, and greater for later trades.")
    at = serializers.DateTimeField(help_text="Block time.")
    block = serializers.IntegerField(help_text="On Solana the slot.")
    txHash = serializers.CharField(help_text="On Solana the signature.")
    logIndex = serializers.IntegerField(help_text="Index of the log in its block.")
    side = serializers.ChoiceField(["buy", "sell"])
    amountToken = WeiField(help_text="What the trader got or sold, in the token's smallest unit.")
    amountQuote = WeiField(
        help_text="What the trader paid or got, with the fees of pool and hook, in the paired token's smallest unit."
        " Router fees, auction bids and gas are not in it."
    )
    poolAmountQuote = WeiField(
        help_text="What the pool got or paid, without the protocol fee. Volumes, candles, trending, ledgers, feeds"
        " and days use it."
    )
    protocolFee = NullableText(
        help_text="What a v4 pool's hook or a bonding curve took beside `poolAmountQuote`. Null where no log"
        " proves it, as of trades stored before version 0.3.0: `amountQuote` is then the pool's."
    )
    tokenFee = NullableText(
        help_text="What a declared launchpad's hook took in the launched token: `amountToken` is so much less than the"
        " pool paid in a purchase, or more than the pool got in a sale. Null where no event reports it."
    )
    priceQuote = serializers.FloatField(help_text="Price paid: `amountQuote` for `amountToken`, in whole units.")
    priceUsd = NullableNumber(help_text="Null if no source has a price of the paired token.")
    valueUsd = NullableNumber(
        help_text="Of `amountQuote`, to 6 decimals; null if no source has a price of the paired token."
    )
    trader = NullableText(
        help_text="Sender of the transaction; on Solana its payer. Null if only logs were read, as in a backfill and"
        " after a gap of more than 20 blocks. The token's locker for each conversion of fees: these"
        " count in no volume."
    )


TRADES_ANSWER = inline_serializer(
    "Trades",
    {
        "data": TradeSerializer(many=True),
        "cursor": serializers.CharField(allow_null=True, help_text="Null on the last page."),
    },
)


class CandlesQuery(serializers.Serializer[Any]):
    """Interval, range, currency and number of candles."""

    interval = serializers.ChoiceField(
        list(INTERVALS),
        default="1h",
        error_messages={"invalid_choice": f"must be one of {', '.join(INTERVALS)}"},
        help_text="Candles begin at multiples of it in UTC. 1m, 5m and 15m go back CANDLE_MINUTE_DAYS days, by default"
        " 30; a range before that is empty.",
    )
    to = UnixTimeField(
        required=False, trim_whitespace=False, help_text="Only candles that begin before these Unix seconds."
    )
    limit = WholeNumberField(
        min_value=1, max_value=1000, default=500, help_text="If the range has more candles, the newest are returned."
    )
    currency = serializers.ChoiceField(
        ["usd", "quote"],
        default="usd",
        error_messages={"invalid_choice": "must be usd or quote"},
        help_text="Currency of prices: USD, or the paired token. In USD a candle is left out if the price of the paired"
        " token was unknown at one of its trades, so that there may be fewer than `limit`.",
    )
    fill = FlagField(
        default=False,
        help_text="Include intervals without trades, from the first stored candle to the current interval: all prices"
        " are the close before, and volumes are 0.",
    )

    def get_fields(self) -> dict[str, Any]:
        """Return the fields with `from`, which is no name in Python."""
        help_text = "Only candles that begin at or after these Unix seconds."
        since = UnixTimeField(required=False, trim_whitespace=False, help_text=help_text)
        return {"from": since} | super().get_fields()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Compare the bounds. Raises ValidationError."""
        if attrs.get("from", 0) > attrs.get("to", NO_END):
            raise serializers.ValidationError({"from": ["must be at most to"]})
        return attrs


class CandleSerializer(PriceBarSerializer):
    """The pool's prices and the trades of an interval. Prices include conversions of fees by the token's locker."""

    t = serializers.DateTimeField(help_text="Beginning of the interval.")
    o = serializers.FloatField(
        help_text="Price before the first trade: the close before, and of the first candle the launch's starting price."
    )
    h = serializers.FloatField(help_text="At least `o`.")
    low = serializers.FloatField(help_text="At most `o`.")
    c = serializers.FloatField(help_text="Price after the last trade.")
    volumeQuote = WeiField(
        help_text="What the pool got and paid, in the paired token's smallest unit, without protocol fees and without"
        " conversions."
    )
    volumeUsd = NullableNumber(
        help_text="Without conversions; null if the price of the paired token was unknown at one of the trades."
    )
    trades = serializers.IntegerField(help_text="Buys and sells, without conversions.")
    buys = serializers.IntegerField()
    sells = serializers.IntegerField()


CANDLES_ANSWER = inline_serializer("Candles", {"data": CandleSerializer(many=True)})
