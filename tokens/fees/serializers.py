"""Parameters of the endpoints for liquidity and fees."""

from typing import Any

from rest_framework import serializers

from config.api.fields import ChainIdField, WholeNumberField
from tokens.chains.addresses import ADDRESS_SHAPE, is_solana_address
from tokens.installation.address_formats import evm_address_rule
from tokens.installation.chain_fields import AddressField, EvmAddressField, EvmChainField, PoolAddressField

FEES_PATH = "/api/get-uncollected-fees"

# Missing on Solana, where pools hold the fees themselves; used in error texts.
LP_POSITION, _LOCKER = "LP position that a locker holds", "locker that pays fees"
_V4_RULE = f"must be a pool of generation v0 to v3.1; for a v4 pool id use {FEES_PATH}/{{address}}"
_POOL_ID_LENGTH = 66
NO_FEES_RULE = "must be a token of a launchpad whose uncollected fees are read; those of {launchpad} are not"
NO_NFT_RULE = f"must be a token of generation v0 to v3.1; for a v4 token use {FEES_PATH}/{{address}}"


class _OlderPoolField(PoolAddressField):
    """Pool address field; its description omits the pool kinds that are rejected by rules of their own."""

    shape = ADDRESS_SHAPE


class RewardsQuery(serializers.Serializer[Any]):
    """A pool of generation v0 to v3.1."""

    poolAddress = _OlderPoolField(help_text="20 bytes; v4 pool ids and pools of Solana are rejected.")

    def validate_poolAddress(self, pool: str) -> str:
        """Reject v4 pools (every swap collects their fees into a fee locker) and pools of Solana."""
        if len(pool) == _POOL_ID_LENGTH:
            raise serializers.ValidationError(_V4_RULE)
        if is_solana_address(pool):
            raise serializers.ValidationError(evm_address_rule(_LOCKER))
        return pool


class LpInfoQuery(serializers.Serializer[Any]):
    """The chain of a token; the default is the first chain of the registry that has the address."""

    chainId = EvmChainField(lacking=LP_POSITION, required=False)


class ClaimInfoQuery(LpInfoQuery):
    """A token of generation v0 to v3.1, on the given chain or on any."""

    address = EvmAddressField(lacking=_LOCKER, help_text="v4 tokens and mints of Solana are rejected.")
    chainId = EvmChainField(lacking=_LOCKER, required=False)


# Far above the number of claims of any recipient.
MAX_OFFSET = 1_000_000


class ClaimedFeesQuery(serializers.Serializer[Any]):
    """Chain and page."""

    chainId = ChainIdField(
        required=False,
        help_text="Default: the registry's first EVM chain with a node, such as 8453; for a mint Solana.",
    )
    limit = WholeNumberField(min_value=1, max_value=100, default=50)
    offset = WholeNumberField(min_value=0, max_value=MAX_OFFSET, default=0)


class UncollectedFeesQuery(serializers.Serializer[Any]):
    """Recipient, and the token's chain."""

    recipient = AddressField(
        required=False,
        allow_mint=True,
        help_text="Only the fees of this address, on Solana in base58; former recipients are allowed.",
    )
    chainId = ChainIdField(
        required=False,
        help_text="Default: the first chain of the registry that has the address.",
    )
