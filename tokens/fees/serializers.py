"""Parameters and answers of the endpoints about a token's liquidity and fees."""

from typing import Any

from rest_framework import serializers

from config.api.fields import ADDRESS_SHAPE, PoolAddressField, WeiField
from tokens.chains.base58 import is_account
from tokens.installation.chain_fields import EvmAddressField, EvmChainField, mint_rule

FEES_PATH = "/api/get-uncollected-fees"

# What tokens of Solana lack: their pools keep the fees themselves.
LP_POSITION, _LOCKER = "LP position that a locker holds", "locker that pays fees"
_V4_RULE = f"must be a pool of generation v0 to v3.1; for a v4 pool id use {FEES_PATH}/{{address}}"
_POOL_ID_LENGTH = 66
NO_NFT_RULE = f"must be a token of generation v0 to v3.1; for a v4 token use {FEES_PATH}/{{address}}"


class _OlderPoolField(PoolAddressField):
    """A pool address, described without the pools that are refused with rules of their own."""

    shape = ADDRESS_SHAPE


class RewardsQuery(serializers.Serializer[Any]):
    """A pool of generation v0 to v3.1."""

    poolAddress = _OlderPoolField(help_text="20 bytes; a v4 pool id and a pool of Solana are refused.")

    def validate_poolAddress(self, pool: str) -> str:
        """Fees of v4 have another home: they are collected with every swap, and wait in a fee locker."""
        if len(pool) == _POOL_ID_LENGTH:
            raise serializers.ValidationError(_V4_RULE)
        if is_account(pool):
            raise serializers.ValidationError(mint_rule(_LOCKER))
        return pool


class LpInfoQuery(serializers.Serializer[Any]):
    """The chain of a token; without it the first of the registry that holds the address."""

    chainId = EvmChainField(lacking=LP_POSITION, required=False)


class LpInfoAnswer(serializers.Serializer[Any]):
    """What a launch locked as liquidity. What can't be told is null."""

    poolAddress = serializers.CharField(
        source="pool", allow_null=True, help_text="20 bytes up to generation v3.1, the 32-byte pool id for v4."
    )
    lockerAddress = serializers.CharField(source="locker", allow_null=True)
    lpNftId = serializers.CharField(
        source="nft_id",
        allow_null=True,
        help_text="Of v4, whose locker holds up to seven with consecutive ids, the first.",
    )
    amountDepositedIntoLP = WeiField(
        source="deposited",
        allow_null=True,
        help_text="Wei: the supply without what vault, airdrop and presale got.",
    )
    totalSupply = WeiField(source="supply", allow_null=True, help_text="Wei.")
    percentLocked = serializers.CharField(
        source="percent_locked", allow_null=True, help_text="Percent of the supply, such as 100 or 67.5, rounded down."
    )
    token_name = serializers.CharField(source="name")
    token_symbol = serializers.CharField(source="symbol")


class ClaimInfoQuery(LpInfoQuery):
    """A token of generation v0 to v3.1, on one chain or on whichever holds it."""

    address = EvmAddressField(lacking=_LOCKER, help_text="A v4 token and a mint of Solana are refused.")
    chainId = EvmChainField(lacking=_LOCKER, required=False)


class ClaimInfoAnswer(serializers.Serializer[Any]):
    """Where to claim a token's fees."""

    lockerAddress = serializers.CharField(allow_null=True)
    lpNftId = serializers.CharField(allow_null=True)
    contract_address = serializers.CharField()
    type = serializers.CharField(help_text="Label of the generation, such as clanker_v2.")


class RewardsAnswer(serializers.Serializer[Any]):
    """An estimate at market prices."""

    userRewards = serializers.FloatField(help_text="USD, without the part of the launchpad's team.")
