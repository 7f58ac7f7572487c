"""Queries for the airdrop endpoints."""

from typing import Any

from rest_framework import serializers

from config.api.fields import WholeNumberField
from tokens.installation.chain_fields import EvmAddressField

MAX_ALLOCATIONS = 1_000
_AIRDROP = "airdrop"


class AirdropClaimQuery(serializers.Serializer[Any]):
    """Query parameters for an airdrop claim."""

    tokenAddress = EvmAddressField(lacking=_AIRDROP, help_text="Token of the airdrop; not a Solana mint.")
    claimerAddress = EvmAddressField(lacking=_AIRDROP, help_text="Account with an entry in the airdrop.")


class AirdropsQuery(serializers.Serializer[Any]):
    """Query parameters for a token's airdrops."""

    tokenAddress = EvmAddressField(lacking=_AIRDROP, help_text="Token of the airdrops; not a Solana mint.")
    claimerAddress = EvmAddressField(
        lacking=_AIRDROP, required=False, help_text="Account of `claims`, which is empty without one."
    )


class AllocationsQuery(serializers.Serializer[Any]):
    """Query parameters for a token's allocations."""

    tokenAddress = EvmAddressField(lacking=_AIRDROP, help_text="Token of the airdrops; not a Solana mint.")
    limit = WholeNumberField(min_value=1, max_value=MAX_ALLOCATIONS, default=MAX_ALLOCATIONS)
    cursor = serializers.CharField(required=False, help_text="Opaque cursor of the previous response.")


class SavedAirdropsQuery(serializers.Serializer[Any]):
    """Query parameters for a partner's saved airdrops."""

    limit = WholeNumberField(min_value=1, max_value=100, default=50)
    before = WholeNumberField(
        min_value=1, max_value=2**63 - 1, required=False, help_text="Id; that of the next page is `cursor`."
    )
