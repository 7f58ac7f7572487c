"""Parameters of what is there on EVM chains alone: they say why they refuse a mint, or Solana as the chain."""

from typing import Any

from django.conf import settings
from rest_framework import serializers

from config.api.fields import AddressField, WholeNumberField


def mint_rule(lacking: str) -> str:
    """What is told of a base58 address, to which there is no `lacking`."""
    return f"must be of an EVM chain, since on Solana there is no {lacking}: a 20-byte hex address"


def chain_rule(lacking: str) -> str:
    """What is told where the chain is Solana, on which there is no `lacking`."""
    return f"must be an EVM chain, since on Solana there is no {lacking}"


class EvmAddressField(AddressField):
    """An address on an EVM chain, because on Solana there is no `lacking`."""

    def __init__(self, *, lacking: str, **options: Any) -> None:
        super().__init__(mint_rule=mint_rule(lacking), **options)


class EvmChainField(WholeNumberField):
    """The id of a chain, which is not Solana's, because there is no `lacking` there."""

    def __init__(self, *, lacking: str, **options: Any) -> None:
        super().__init__(min_value=1, max_value=2**63 - 1, **options)
        self.lacking = lacking

    def to_internal_value(self, data: Any) -> int:
        """Raises ValidationError for what is no id of an EVM chain."""
        chain_id = super().to_internal_value(data)
        if chain_id == settings.SOLANA_CHAIN_ID:
            raise serializers.ValidationError(chain_rule(self.lacking), code="invalid")
        return chain_id
