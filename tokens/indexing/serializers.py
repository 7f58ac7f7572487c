"""Serializers of index requests and of saved tokens: request bodies and responses."""

import re
from typing import Any

from rest_framework import serializers

from config.api.errors import BadRequestError
from config.api.fields import ChainIdField, IdField
from tokens.installation.address_formats import parse_chain_address, parse_chain_transaction
from tokens.installation.chain_fields import AddressField, TransactionHashField
from tokens.installation.installed_chains import UnsupportedChainError, installed_launch_chain
from tokens.installation.installed_registry import DefaultFor, default_chain

# Alternative spelling of each key, as accepted where transactions are indexed.
_ALSO = {"tx_hash": "txHash", "chain_id": "chainId"}
_DEFAULT_CHAIN = "Default: the registry's first EVM chain with a node, such as 8453."


class SaveBody(serializers.Serializer[Any]):
    """A token and its launch transaction. Accepts the spellings `txHash` and `chainId` as well."""

    default_error_messages = {"invalid": "must be a JSON object"}

    address = AddressField(allow_mint=True, help_text="On Solana a mint.")
    tx_hash = TransactionHashField(allow_signature=True, help_text="On Solana a signature.")
    chain_id = ChainIdField(help_text="A chain that this service reads.")

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict):
            data = {**{name: data[other] for name, other in _ALSO.items() if other in data}, **data}
        return super().to_internal_value(data)

    def validate_chain_id(self, value: int) -> int:
        """Reject a chain without a configured node. Raises ValidationError."""
        try:
            installed_launch_chain(value)
        except UnsupportedChainError as error:
            raise serializers.ValidationError("must be a chain that this service reads") from error
        return value

    def validate(self, attrs: Any) -> Any:
        """Reject an address or transaction of another kind of chain. Raises ValidationError."""
        refused: dict[str, list[str]] = {}
        for name, parse in (("address", parse_chain_address), ("tx_hash", parse_chain_transaction)):
            try:
                parse(attrs["chain_id"], attrs[name])
            except ValueError as error:
                refused[name] = [str(error)]
        if refused:
            raise serializers.ValidationError(refused)
        return attrs


class SaveAnswer(serializers.Serializer[Any]):
    """An accepted report. The transaction is indexed in a few seconds."""

    success = serializers.BooleanField(default=True)
    tokenAddress = AddressField(
        allow_mint=True, source="address", help_text="The address of the request, checksummed; a mint unchanged."
    )


class IndexBody(serializers.Serializer[Any]):
    """A transaction. Accepts the spellings `tx_hash` and `chain_id` as well."""

    txHash = TransactionHashField(
        allow_signature=True, help_text="0x followed by 64 hex digits; on Solana a base58 signature of 64 bytes."
    )
    chainId = IdField(required=False, help_text=f"{_DEFAULT_CHAIN} For a signature it has to be Solana's.")

    @classmethod
    def read(cls, data: Any) -> dict[str, Any]:
        """Return {"chain_id": int, "tx_hash": str} of a request body.

        Raises BadRequestError with the contract's texts.
        """
        if not isinstance(data, dict):
            raise BadRequestError("The body must be a JSON object")
        tx_hash, chain_id = data.get("txHash", data.get("tx_hash")), _read_chain(data)
        try:
            tx_hash = parse_chain_transaction(chain_id, tx_hash if isinstance(tx_hash, str) else "")
        except ValueError as error:
            raise BadRequestError("Invalid transaction hash format", field="txHash") from error
        if type(chain_id) is not int:
            raise BadRequestError("Unsupported chain", field="chainId")
        return {"chain_id": chain_id, "tx_hash": tx_hash}


class IndexByAddressBody(serializers.Serializer[Any]):
    """A token. Accepts the spelling `chain_id` as well."""

    address = AddressField(allow_mint=True, help_text="A launched token; on Solana its mint.")
    chainId = IdField(required=False, help_text=_DEFAULT_CHAIN)

    @classmethod
    def read(cls, data: Any) -> dict[str, Any]:
        """Return {"chain_id": int, "address": str} of a request body, the address in stored form.

        Raises BadRequestError.
        """
        if not isinstance(data, dict):
            raise BadRequestError("The body must be a JSON object")
        address, chain_id = data.get("address"), _read_chain(data)
        try:
            address = parse_chain_address(chain_id, address if isinstance(address, str) else "")
        except ValueError as error:
            raise BadRequestError(f"address {error}", field="address") from error
        if type(chain_id) is not int:
            raise BadRequestError("Unsupported chain", field="chainId")
        return {"chain_id": chain_id, "address": address}


def _read_chain(data: dict[str, Any]) -> Any:
    """Return the chain of a body as sent, digits as a number; the default chain without one."""
    chain_id = data.get("chainId", data.get("chain_id", default_chain(DefaultFor.INDEXING).chain_id))
    if isinstance(chain_id, str) and re.fullmatch(r"[0-9]{1,19}", chain_id):
        return int(chain_id)
    return chain_id


class IndexAnswer(serializers.Serializer[Any]):
    """The tokens that a transaction launched; without a launch, the indexed tokens that it affected."""

    success = serializers.BooleanField()
    address = serializers.CharField(
        allow_null=True,
        help_text="The first token. Null if the transaction only paid out fees in a currency, such as WETH, which "
        "belong to no token.",
    )
    addresses = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="All tokens, if there are several."
    )
    url = serializers.URLField(allow_null=True, help_text="The first token's page.")


class IndexByAddressAnswer(serializers.Serializer[Any]):
    """The indexed token, and the transaction of its launch."""

    success = serializers.BooleanField()
    message = serializers.CharField()
    address = AddressField(allow_mint=True)
    txHash = serializers.CharField(help_text="Transaction of the launch; on Solana a signature.")
    url = serializers.URLField(help_text="The token's page.")
