"""Request bodies of index requests and saved tokens."""

from typing import Any

from rest_framework import serializers

from config.api.errors import BadRequestError
from config.api.fields import ChainIdField
from tokens.chains.addresses import ADDRESS_OR_MINT_RULE
from tokens.installation.address_formats import parse_chain_address, parse_chain_transaction
from tokens.installation.chain_fields import AddressField, TransactionHashField
from tokens.installation.installed_chains import UnsupportedChainError, installed_launch_chain
from tokens.installation.installed_registry import DefaultFor, default_chain

_OTHER_SPELLING = {"tx_hash": "txHash", "txHash": "tx_hash", "chain_id": "chainId", "chainId": "chain_id"}
_PARSERS_BY_CHAIN = {"address": parse_chain_address, "tx_hash": parse_chain_transaction}
_INDEX_ERRORS = {"txHash": "Invalid transaction hash format", "chainId": "Unsupported chain"}
_DEFAULT_CHAIN = "Default: the registry's first EVM chain with a node, such as 8453."


class _ChainBody(serializers.Serializer[Any]):
    """Base class for a token or a transaction on a chain. Accepts both spellings for each key."""

    default_error_messages = {"invalid": "must be a JSON object"}

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict):
            data = {_OTHER_SPELLING[name]: data[name] for name in data.keys() & _OTHER_SPELLING.keys()} | data
        return super().to_internal_value(data)

    def validate_chain_id(self, value: int) -> int:
        """Reject a chain without a configured node. Raises ValidationError."""
        try:
            installed_launch_chain(value)
        except UnsupportedChainError as error:
            raise serializers.ValidationError("must be a chain that this service reads") from error
        return value

    validate_chainId = validate_chain_id

    def validate(self, attrs: Any) -> Any:
        """Reject an address or transaction in another chain's format. Raises ValidationError."""
        problems: dict[str, list[str]] = {}
        for name, field in self.fields.items():
            if field.source in _PARSERS_BY_CHAIN:
                try:
                    _PARSERS_BY_CHAIN[field.source](attrs["chain_id"], attrs[field.source])
                except ValueError as error:
                    problems[name] = [str(error)]
        if problems:
            raise serializers.ValidationError(problems)
        return attrs


class SaveBody(_ChainBody):
    """A token and its launch transaction. Accepts the spellings `txHash` and `chainId` as well."""

    address = AddressField(allow_mint=True, help_text="On Solana a mint.")
    tx_hash = TransactionHashField(allow_signature=True, help_text="On Solana a signature.")
    chain_id = ChainIdField(help_text="A chain that this service reads.")


def _default_chain_id() -> int:
    return default_chain(DefaultFor.INDEXING).chain_id


class IndexBody(_ChainBody):
    """A transaction. Accepts the spellings `tx_hash` and `chain_id` as well."""

    txHash = TransactionHashField(
        allow_signature=True,
        source="tx_hash",
        help_text="0x followed by 64 hex digits; on Solana a base58 signature of 64 bytes.",
    )
    chainId = ChainIdField(
        source="chain_id",
        default=_default_chain_id,
        help_text=f"{_DEFAULT_CHAIN} For a signature it has to be Solana's.",
    )


class IndexByAddressBody(_ChainBody):
    """A token. Accepts the spelling `chain_id` as well."""

    address = AddressField(
        allow_mint=True,
        help_text="A launched token; on Solana its mint.",
        error_messages=dict.fromkeys(("required", "null", "blank"), ADDRESS_OR_MINT_RULE),
    )
    chainId = ChainIdField(source="chain_id", default=_default_chain_id, help_text=_DEFAULT_CHAIN)


def read_index_body(body: _ChainBody) -> Any:
    """Return an index request's values. Raises BadRequestError with the contract's text for the first problem."""
    if body.is_valid():
        return body.validated_data
    name, [message, *_] = next(iter(body.errors.items()))
    if name not in body.fields:
        raise BadRequestError("The body must be a JSON object")
    raise BadRequestError(_INDEX_ERRORS.get(name, f"{name} {message}"), field=name)
