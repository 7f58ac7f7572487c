"""Serializer fields and path parameters for addresses, pools and transactions on the installed chains."""

from typing import Any

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from config.api.fields import ChainIdField, IdField, ShapedField
from tokens.chains.addresses import (
    ADDRESS_OR_MINT_RULE,
    ADDRESS_OR_MINT_SHAPE,
    ADDRESS_RULE,
    ADDRESS_SHAPE,
    POOL_RULE,
    POOL_SHAPE,
    TRANSACTION_HASH_RULE,
    TRANSACTION_HASH_SHAPE,
    TRANSACTION_RULE,
    TRANSACTION_SHAPE,
    checksum_address,
    parse_address,
    parse_pool_address,
    parse_transaction_hash,
)
from tokens.installation.address_formats import evm_address_rule, evm_chain_rule, parse_chain_address

MAX_CHAIN_ID = 2**63 - 1
MAX_ADDRESSES = 100
# Parameters for a path with a token, in the OpenAPI description.
TOKEN_IN_PATH = [
    OpenApiParameter(
        "chainId",
        {"type": "integer", "format": "int64", "minimum": 1, "maximum": MAX_CHAIN_ID},
        OpenApiParameter.PATH,
        description="Chain id.",
    ),
    OpenApiParameter(
        "address", ADDRESS_OR_MINT_SHAPE, OpenApiParameter.PATH, description="A launched token; on Solana its mint."
    ),
]


def parse_path_address(text: str, *, name: str, allow_mint: bool = False, mint_rule: str = ADDRESS_RULE) -> str:
    """Parse an address in the path as `parse_address` does. Raises ValidationError (400) on `name`."""
    try:
        return parse_address(text, allow_mint=allow_mint, mint_rule=mint_rule)
    except ValueError as error:
        raise serializers.ValidationError({name: [str(error)]}) from error


def parse_path_address_on(chain_id: int, text: str, *, name: str) -> str:
    """Parse one chain's address in the path. Raises ValidationError (400) on `name`."""
    try:
        return parse_chain_address(chain_id, text)
    except ValueError as error:
        raise serializers.ValidationError({name: [str(error)]}) from error


def parse_path_token(chain_id: str, address: str) -> tuple[int, str]:
    """Parse a token's `chainId` and `address` in the path. Raises ValidationError (400) on the invalid one."""
    try:
        parsed = IdField().to_internal_value(chain_id)
    except serializers.ValidationError as error:
        raise serializers.ValidationError({"chainId": error.detail}) from error
    return parsed, parse_path_address_on(parsed, address, name="address")


class AddressField(ShapedField):
    """EVM address, checksummed in and out; with `allow_mint` also a Solana mint, unchanged.

    Without `allow_mint`, `mint_rule` is the error text for a mint.
    """

    def __init__(self, *, allow_mint: bool = False, mint_rule: str = ADDRESS_RULE, **options: Any) -> None:
        super().__init__(**options)
        self.allow_mint = allow_mint
        self.mint_rule = mint_rule
        self.rule = ADDRESS_OR_MINT_RULE if allow_mint else ADDRESS_RULE
        self.shape = ADDRESS_OR_MINT_SHAPE if allow_mint else ADDRESS_SHAPE

    def parse(self, text: str) -> str:
        """Return the address in its stored form. Raises ValueError."""
        return parse_address(text, allow_mint=self.allow_mint, mint_rule=self.mint_rule)

    def to_representation(self, value: Any) -> str:
        """Return the EIP-55 form, or base58 unchanged."""
        return checksum_address(value) if value.startswith("0x") else str(value)


class AddressListField(ShapedField):
    """Comma-separated list of addresses: EVM ones in any case, and Solana mints."""

    shape = {"type": "array", "items": ADDRESS_OR_MINT_SHAPE, "minItems": 1, "maxItems": MAX_ADDRESSES}

    def parse(self, text: str) -> tuple[str, ...]:
        """Return the addresses in stored form, each once. Raises ValueError."""
        parts = text.split(",", MAX_ADDRESSES)
        if len(parts) > MAX_ADDRESSES:
            raise ValueError(f"must be 1 to {MAX_ADDRESSES} addresses, separated by commas")
        return tuple(dict.fromkeys(parse_address(address, allow_mint=True) for address in parts))


class PoolAddressField(ShapedField):
    """Pool address (base58 on Solana) or v4 pool id."""

    rule = POOL_RULE
    shape = POOL_SHAPE

    def parse(self, text: str) -> str:
        """Return the pool in its stored form. Raises ValueError."""
        return parse_pool_address(text)

    def to_representation(self, value: Any) -> str:
        """Return the pool in its stored form."""
        return parse_pool_address(value)


class TransactionHashField(ShapedField):
    """Transaction hash in lower case; with `allow_signature` also a Solana signature, unchanged."""

    def __init__(self, *, allow_signature: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.allow_signature = allow_signature
        self.rule = TRANSACTION_RULE if allow_signature else TRANSACTION_HASH_RULE
        self.shape = TRANSACTION_SHAPE if allow_signature else TRANSACTION_HASH_SHAPE

    def parse(self, text: str) -> str:
        """Return the hash in its stored form. Raises ValueError."""
        return parse_transaction_hash(text, allow_signature=self.allow_signature)


class EvmAddressField(AddressField):
    """EVM address; `lacking` names what does not exist on Solana, for the error text."""

    def __init__(self, *, lacking: str, **options: Any) -> None:
        super().__init__(mint_rule=evm_address_rule(lacking), **options)


class EvmChainField(ChainIdField):
    """Id of an EVM chain; `lacking` names what does not exist on Solana, for the error text."""

    def __init__(self, *, lacking: str, **options: Any) -> None:
        super().__init__(**options)
        self.lacking = lacking

    def to_internal_value(self, data: Any) -> int:
        """Parse the id. Raises ValidationError for an invalid one, and for Solana's."""
        chain_id = super().to_internal_value(data)
        if chain_id == settings.SOLANA_CHAIN_ID:
            raise serializers.ValidationError(evm_chain_rule(self.lacking), code="invalid")
        return chain_id
