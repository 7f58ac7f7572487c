"""The parameters and the answer of the trending pools, for checks and the OpenAPI description."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, inline_serializer
from rest_framework import serializers

from config.api.fields import WholeNumberField
from tokens.catalogue.serializers import TokenRecordSerializer
from tokens.market.provider_responses import CHANGE_PERIODS, PERIODS, TRADES
from tokens.market.trending_sorts import DEFAULT_ORDER, ORDERS

Shape = dict[str, Any]

_CHAIN = "Default: the first chain that the provider knows and this service follows, or else the first that it knows."


class TrendingQuery(serializers.Serializer[Any]):
    """Which page of which list."""

    page = WholeNumberField(min_value=1, max_value=10, default=1)
    order = serializers.ChoiceField(
        ORDERS,
        default=DEFAULT_ORDER,
        error_messages={"invalid_choice": f"must be one of {', '.join(ORDERS)}"},
        help_text="By the provider. GeckoTerminal's free tier knows those by trend, creation, most trades and volume;"
        " by the others its page of trending pools is sorted.",
    )
    chainId = WholeNumberField(min_value=1, max_value=2**63 - 1, required=False, help_text=_CHAIN)


def _digits(description: str) -> Shape:
    return {"type": ["string", "null"], "description": f"{description}, in the provider's own digits."}


def _by_period(periods: tuple[str, ...], shape: Shape) -> Shape:
    return {"type": "object", "required": list(periods), "properties": dict.fromkeys(periods, shape)}


_TRADES = {
    "type": "object",
    "required": list(TRADES),
    "properties": dict.fromkeys(TRADES, {"type": ["integer", "null"]}),
}
_PROPERTIES: Shape = {
    "name": {"type": "string"},
    "address": {
        "type": "string",
        "description": "In lower case, the 32-byte pool id for v4; base58 on Solana.",
    },
    "base_token_price_usd": _digits("USD"),
    "quote_token_price_usd": _digits("USD"),
    "pool_created_at": {"type": ["string", "null"], "format": "date-time"},
    "fdv_usd": _digits("USD"),
    "market_cap_usd": _digits("USD"),
    "reserve_in_usd": _digits("USD"),
    "price_change_percentage": _by_period(CHANGE_PERIODS, _digits("Percent points")),
    "volume_usd": _by_period(PERIODS, _digits("USD")),
    "transactions": _by_period(PERIODS, _TRADES),
}


@extend_schema_field({"type": "object", "required": list(_PROPERTIES), "properties": _PROPERTIES})
class PoolField(serializers.JSONField):
    """A pool as the provider describes it."""


class _TrendingTokenSerializer(TokenRecordSerializer):
    """A token's record with its pool; the pool alone where the token is none of ours."""

    pool = PoolField()

    def get_fields(self) -> dict[str, Any]:
        """All but the pool may be missing."""
        fields = super().get_fields()
        for name, field in fields.items():
            field.required = name == "pool"
        return fields


TRENDING_ANSWER = inline_serializer(
    "Trending",
    {
        "trending": serializers.ListField(child=serializers.CharField(), help_text="Pool addresses, in order."),
        "tokens": serializers.DictField(child=_TrendingTokenSerializer()),
    },
)
