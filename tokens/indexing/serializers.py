"""What a page says of a launch, and what it is answered."""

from typing import Any

from rest_framework import serializers

from config.api.fields import AddressField, TransactionHashField, WholeNumberField
from tokens.installation.address_formats import parse_address_on, parse_hash_on
from tokens.installation.installed_chains import UnsupportedChain, installed_launch_chain

# Which other spelling each key may have, as where transactions are indexed.
_ALSO = {"tx_hash": "txHash", "chain_id": "chainId"}


class SaveBody(serializers.Serializer[Any]):
    """A token and the transaction that launched it. The spellings `txHash` and `chainId` are taken, too."""

    default_error_messages = {"invalid": "must be a JSON object"}

    address = AddressField(allow_mint=True, help_text="On Solana a mint.")
    tx_hash = TransactionHashField(allow_signature=True, help_text="On Solana a signature.")
    chain_id = WholeNumberField(min_value=1, max_value=2**63 - 1, help_text="A chain whose nodes this service asks.")

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict):
            data = {**{name: data[other] for name, other in _ALSO.items() if other in data}, **data}
        return super().to_internal_value(data)

    def validate_chain_id(self, value: int) -> int:
        """Raises ValidationError where there is no node to ask."""
        try:
            installed_launch_chain(value)
        except UnsupportedChain as error:
            raise serializers.ValidationError("must be a chain that this service reads") from error
        return value

    def validate(self, attrs: Any) -> Any:
        """Raises ValidationError where address or transaction is none of the chain's kind."""
        refused: dict[str, list[str]] = {}
        for name, parse in (("address", parse_address_on), ("tx_hash", parse_hash_on)):
            try:
                parse(attrs["chain_id"], attrs[name])
            except ValueError as error:
                refused[name] = [str(error)]
        if refused:
            raise serializers.ValidationError(refused)
        return attrs


class SaveAnswer(serializers.Serializer[Any]):
    """Taken down; the transaction is looked at in a few seconds."""

    success = serializers.BooleanField(default=True)
    tokenAddress = AddressField(
        allow_mint=True, source="address", help_text="As it was said, checksummed; a mint as it is."
    )
