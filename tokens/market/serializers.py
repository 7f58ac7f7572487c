"""Parameters of the endpoints for trending pools and market caps."""

from typing import Any

from rest_framework import serializers

from config.api.fields import ChainIdField, WholeNumberField
from tokens.installation.chain_fields import AddressField, AddressListField, PoolAddressField
from tokens.market.own_trending import PAGE_SIZE
from tokens.market.trending_sorts import DEFAULT_TRENDING_SORT, TRENDING_SORTS

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


class MarketCapQuery(serializers.Serializer[Any]):
    """Query parameters for one token's market cap."""

    tokenAddress = AddressField(allow_mint=True, help_text="A launched token; on Solana its mint.")
    poolAddress = PoolAddressField(required=False, help_text="The pool of its launch, which is verified.")
    chainId = ChainIdField(required=False, help_text="Chain id.")


class MarketCapsQuery(serializers.Serializer[Any]):
    """Query parameters for several tokens' market caps."""

    addresses = AddressListField(trim_whitespace=False, help_text="Launched tokens, at most 100, by comma.")
    chainId = ChainIdField(required=False, help_text="Chain id. Default: all chains.")
