"""What a page says of a launch, and what it is answered."""

from typing import Any

from rest_framework import serializers

from config.api.fields import AddressField, TransactionHashField, WholeNumberField
from tokens.installed_chains import UnsupportedChain, installed_chain

# Which other spelling each key may have, as where transactions are indexed.
_ALSO = {"tx_hash": "txHash", "chain_id": "chainId"}


class SaveBody(serializers.Serializer[Any]):
    """A token and the transaction that launched it. The spellings `txHash` and `chainId` are taken, too."""

    default_error_messages = {"invalid": "must be a JSON object"}

    address = AddressField()
    tx_hash = TransactionHashField()
    chain_id = WholeNumberField(min_value=1, max_value=2**63 - 1, help_text="A chain whose nodes this service asks.")

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict):
            data = {**{name: data[other] for name, other in _ALSO.items() if other in data}, **data}
        return super().to_internal_value(data)

    def validate_chain_id(self, value: int) -> int:
        """Raises ValidationError where there is no node to ask."""
        try:
            installed_chain(value)
        except UnsupportedChain as error:
            raise serializers.ValidationError("must be a chain that this service reads") from error
        return value


class SaveAnswer(serializers.Serializer[Any]):
    """Taken down; the transaction is looked at in a few seconds."""

    success = serializers.BooleanField(default=True)
    tokenAddress = AddressField(source="address", help_text="As it was said, checksummed.")
