"""Parameters of the endpoints for a token's trades and candles."""

from typing import Any

from rest_framework import serializers

from config.api.fields import FlagField, WholeNumberField
from tokens.catalogue.list_parameters import PageQuery, UnixTimeField
from tokens.market.trading.candle_pages import INTERVALS, NO_END


class TradesQuery(PageQuery):
    """Page of trades."""

    limit = WholeNumberField(min_value=1, max_value=100, default=50)


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
