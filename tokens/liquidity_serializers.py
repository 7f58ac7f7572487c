"""Parameters and answers of the endpoints about a token's liquidity and fees."""

from typing import Any

from rest_framework import serializers

from config.api.fields import PoolAddressField

FEES_PATH = "/api/get-uncollected-fees"

_V4_RULE = f"must be a pool of generation v0 to v3.1; for a v4 pool id use {FEES_PATH}/{{address}}"
_POOL_ID_LENGTH = 66


class RewardsQuery(serializers.Serializer[Any]):
    """A pool of generation v0 to v3.1."""

    poolAddress = PoolAddressField(help_text="20 bytes; a v4 pool id is refused.")

    def validate_poolAddress(self, pool: str) -> str:
        """Fees of v4 have another home: they are collected with every swap, and wait in a fee locker."""
        if len(pool) == _POOL_ID_LENGTH:
            raise serializers.ValidationError(_V4_RULE)
        return pool


class RewardsAnswer(serializers.Serializer[Any]):
    """An estimate at market prices."""

    userRewards = serializers.FloatField(help_text="USD, without the part of the launchpad's team.")
