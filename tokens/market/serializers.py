"""Serializers for trending pools and market caps: query parameters and responses."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, inline_serializer
from rest_framework import serializers

from config.api.fields import ChainIdField, WholeNumberField
from tokens.catalogue.serializers import NullableNumber, TokenRecordSerializer
from tokens.installation.chain_fields import AddressField, AddressListField, PoolAddressField
from tokens.market.own_trending import PAGE_SIZE
from tokens.market.pool_statistics import CHANGE_PERIODS, PERIODS, TRADE_COUNTS
from tokens.market.trending_sorts import DEFAULT_TRENDING_SORT, TRENDING_SORTS

Shape = dict[str, Any]

_CHAIN = "Default: the first chain with market data that this service follows, or the first one with market data."


class TrendingQuery(serializers.Serializer[Any]):
    """Query parameters for trending pools."""

    page = WholeNumberField(min_value=1, max_value=10, default=1)
    limit = WholeNumberField(
        min_value=1, max_value=PAGE_SIZE, required=False, help_text="Only the first pools of the page. Default: all."
    )
    order = serializers.ChoiceField(
        TRENDING_SORTS,
        default=DEFAULT_TRENDING_SORT,
        error_messages={"invalid_choice": f"must be one of {', '.join(TRENDING_SORTS)}"},
        help_text="Sort. A list has pools with a trade in the period of its sort, or in 24 hours; by creation also"
        " those without a trade. On chains with data of an outside provider, the list is the provider's.",
    )
    chainId = ChainIdField(required=False, help_text=_CHAIN)


def _digits(description: str) -> Shape:
    return {"type": ["string", "null"], "description": f"{description}, in decimal digits."}


def _by_period(periods: tuple[str, ...], shape: Shape) -> Shape:
    return {"type": "object", "required": list(periods), "properties": dict.fromkeys(periods, shape)}


_TRADES = {
    "type": "object",
    "required": list(TRADE_COUNTS),
    "properties": dict.fromkeys(TRADE_COUNTS, {"type": ["integer", "null"]}),
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
    "market_cap_usd": _digits("USD; null also where the pool holds too little for it"),
    "reserve_in_usd": _digits("USD"),
    "price_change_percentage": _by_period(CHANGE_PERIODS, _digits("Percent points")),
    "volume_usd": _by_period(PERIODS, _digits("USD, pool amounts")),
    "transactions": _by_period(PERIODS, _TRADES),
}


@extend_schema_field({"type": "object", "required": list(_PROPERTIES), "properties": _PROPERTIES})
class PoolField(serializers.JSONField):
    """A pool with its prices and trades."""


class _TrendingTokenSerializer(TokenRecordSerializer):
    """Token record with its pool; only the pool if the token is not indexed."""

    pool = PoolField()

    def get_fields(self) -> dict[str, Any]:
        """Return the fields of the record, optional except `pool`."""
        fields = super().get_fields()
        for name, field in fields.items():
            field.required = name == "pool"
        return fields


TRENDING_ANSWER = inline_serializer(
    "Trending",
    {
        "trending": serializers.ListField(child=serializers.CharField(), help_text="Pool addresses, sorted."),
        "tokens": serializers.DictField(child=_TrendingTokenSerializer()),
    },
)


class MarketCapQuery(serializers.Serializer[Any]):
    """Query parameters for one token's market cap."""

    tokenAddress = AddressField(allow_mint=True, help_text="A launched token; on Solana its mint.")
    poolAddress = PoolAddressField(required=False, help_text="The pool of its launch, which is verified.")
    chainId = ChainIdField(required=False, help_text="Chain id.")


class MarketCapsQuery(serializers.Serializer[Any]):
    """Query parameters for several tokens' market caps."""

    addresses = AddressListField(trim_whitespace=False, help_text="Launched tokens, at most 100, by comma.")
    chainId = ChainIdField(required=False, help_text="Chain id. Default: all chains.")


class MarketCapSerializer(serializers.Serializer[Any]):
    """Market cap of a token, in USD."""

    chainId = serializers.IntegerField(source="chain_id")
    address = AddressField(allow_mint=True)
    marketCap = NullableNumber(
        source="market_cap", help_text="Null while no source has a price, or the pool holds too little for it."
    )
    priceUsd = NullableNumber(source="price_usd")
    marketDataUpdatedAt = serializers.DateTimeField(
        source="updated_at", allow_null=True, help_text="Time of the price; null while there is none."
    )


MARKET_CAPS_ANSWER = inline_serializer("MarketCaps", {"data": MarketCapSerializer(many=True)})
