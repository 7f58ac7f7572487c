"""Parameters and bodies of the token endpoints."""

from typing import Any

from rest_framework import serializers

from config.api.fields import BoundedListField, ChainIdField
from tokens.installation.chain_fields import AddressField, PoolAddressField

MAX_POOLS = 100
# A body of so many pools: an entry has at most 69 bytes with its quotes and comma, and the rest is for blanks.
MAX_POOLS_BYTES = 160 * MAX_POOLS


class PoolQuery(serializers.Serializer[Any]):
    """Query parameters of a lookup by pool."""

    poolAddress = PoolAddressField()


class PoolsBody(serializers.Serializer[Any]):
    """Body of a lookup by pools."""

    default_error_messages = {"invalid": "must be a JSON object"}

    poolAddresses = BoundedListField(
        child=PoolAddressField(),
        max_length=MAX_POOLS,
        error_messages={"not_a_list": "must be a list", "max_length": f"must have at most {MAX_POOLS} entries"},
    )


class TokenQuery(serializers.Serializer[Any]):
    """Query parameters of a lookup by token address, on one chain or on all."""

    address = AddressField(allow_mint=True)
    chainId = ChainIdField(required=False)
