"""Scalars of the contract, in and out: plain functions for filters, and serializer fields made of them.

The functions raise ValueError with the rule ("must be ..."); the fields turn it into a 400 that names the parameter.
What the functions take is described to OpenAPI by the same expressions that check it.
"""

import functools
import re
from decimal import Decimal
from typing import Any

from drf_spectacular.utils import extend_schema_field
from eth_utils.address import to_checksum_address
from rest_framework import serializers

from tokens.chains.base58 import is_account, is_signature

_HEX_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{40}")
_HEX_HASH = re.compile(r"0[xX][0-9a-fA-F]{64}")
# The digits of base58, and how many of them 32 and 64 bytes have; that they are no more and no less, no pattern says.
_BASE58 = "[1-9A-HJ-NP-Za-km-z]"
_ACCOUNT = f"{_BASE58}{{32,44}}"
_SIGNATURE = f"{_BASE58}{{64,88}}"
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,30}")

_ADDRESS_RULE = "must be a 20-byte hex address, 0x followed by 40 hex digits"
_MINT_RULE = "must be a 20-byte hex address, 0x followed by 40 hex digits, or a base58 mint of 32 bytes"
_POOL_RULE = (
    "must be a pool address, 0x followed by 40 hex digits, a pool id, 0x followed by 64 hex digits, or a base58 pool "
    "address of 32 bytes"
)
_HASH_RULE = "must be a transaction hash, 0x followed by 64 hex digits"
_TRANSACTION_RULE = f"{_HASH_RULE}, or a base58 signature of 64 bytes"
_FLAG_RULE = "must be true, false, 1 or 0"

Shape = dict[str, Any]

# The texts that the functions below take, as JSON Schema.
ADDRESS_SHAPE: Shape = {"type": "string", "pattern": f"^{_HEX_ADDRESS.pattern}$"}
ADDRESS_OR_MINT_SHAPE: Shape = {"type": "string", "pattern": f"^({_HEX_ADDRESS.pattern}|{_ACCOUNT})$"}
TRANSACTION_HASH_SHAPE: Shape = {"type": "string", "pattern": f"^{_HEX_HASH.pattern}$"}
TRANSACTION_SHAPE: Shape = {"type": "string", "pattern": f"^({_HEX_HASH.pattern}|{_SIGNATURE})$"}
POOL_SHAPE: Shape = {"type": "string", "pattern": f"^({_HEX_ADDRESS.pattern}|{_HEX_HASH.pattern}|{_ACCOUNT})$"}
FLAG_SHAPE: Shape = {"type": "boolean"}


@functools.lru_cache(maxsize=65_536)
def checksum(address: str) -> str:
    """The EIP-55 form of 0x and 40 hex digits in any case."""
    return str(to_checksum_address(address.lower()))


def parse_address(text: str, *, allow_mint: bool = False, mint_rule: str = _ADDRESS_RULE) -> str:
    """EVM address in any case -> EIP-55; with `allow_mint` also a Solana mint, unchanged.

    Where mints are not taken, `mint_rule` is what is told of one.
    """
    if _HEX_ADDRESS.fullmatch(text):
        return checksum(text)
    if not is_account(text):
        raise ValueError(_MINT_RULE if allow_mint else _ADDRESS_RULE)
    if not allow_mint:
        raise ValueError(mint_rule)
    return text


def parse_pool_address(text: str) -> str:
    """20 bytes (up to v3.1) -> EIP-55; 32 bytes (a v4 pool id) -> lower case; a base58 pool of Solana, unchanged."""
    if _HEX_ADDRESS.fullmatch(text):
        return checksum(text)
    if _HEX_HASH.fullmatch(text):
        return text.lower()
    if is_account(text):
        return text
    raise ValueError(_POOL_RULE)


def parse_transaction_hash(text: str, *, allow_signature: bool = False) -> str:
    """0x and 64 hex digits in any case -> lower case; with `allow_signature` also a Solana signature, unchanged."""
    if _HEX_HASH.fullmatch(text):
        return text.lower()
    if allow_signature and is_signature(text):
        return text
    raise ValueError(_TRANSACTION_RULE if allow_signature else _HASH_RULE)


def parse_flag(text: str) -> bool:
    """true, false, 1 or 0, words in any case."""
    if text == "1" or (text.isascii() and text.lower() == "true"):
        return True
    if text == "0" or (text.isascii() and text.lower() == "false"):
        return False
    raise ValueError(_FLAG_RULE)


def read_path_address(text: str, *, name: str, allow_mint: bool = False, mint_rule: str = _ADDRESS_RULE) -> str:
    """As `parse_address`, of a part of the path. Raises ValidationError (400) on that name."""
    try:
        return parse_address(text, allow_mint=allow_mint, mint_rule=mint_rule)
    except ValueError as error:
        raise serializers.ValidationError({name: [str(error)]}) from error


class ShapedField(serializers.CharField):
    """A string that one of the functions above reads; numbers and booleans are not taken for strings."""

    rule = ""
    shape: Shape

    def read(self, text: str) -> str:
        raise NotImplementedError

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError(self.rule, code="invalid")
        try:
            return self.read(data)
        except ValueError as error:
            raise serializers.ValidationError(str(error), code="invalid") from error


class AddressField(ShapedField):
    """An EVM address, checksummed on its way in and out; with `allow_mint` also a Solana mint, unchanged.

    `mint_rule` is what is told of a mint where none is taken.
    """

    def __init__(self, *, allow_mint: bool = False, mint_rule: str = _ADDRESS_RULE, **options: Any) -> None:
        super().__init__(**options)
        self.allow_mint = allow_mint
        self.mint_rule = mint_rule
        self.rule = _MINT_RULE if allow_mint else _ADDRESS_RULE
        self.shape = ADDRESS_OR_MINT_SHAPE if allow_mint else ADDRESS_SHAPE

    def read(self, text: str) -> str:
        return parse_address(text, allow_mint=self.allow_mint, mint_rule=self.mint_rule)

    def to_representation(self, value: Any) -> str:
        return checksum(value) if value.startswith("0x") else str(value)


class PoolAddressField(ShapedField):
    """A pool address, base58 on Solana, or a v4 pool id."""

    rule = _POOL_RULE
    shape = POOL_SHAPE

    def read(self, text: str) -> str:
        return parse_pool_address(text)

    def to_representation(self, value: Any) -> str:
        return parse_pool_address(value)


class TransactionHashField(ShapedField):
    """A transaction's hash, in lower case; with `allow_signature` also a signature of Solana, unchanged."""

    def __init__(self, *, allow_signature: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.allow_signature = allow_signature
        self.rule = _TRANSACTION_RULE if allow_signature else _HASH_RULE
        self.shape = TRANSACTION_SHAPE if allow_signature else TRANSACTION_HASH_SHAPE

    def read(self, text: str) -> str:
        return parse_transaction_hash(text, allow_signature=self.allow_signature)


class FlagField(serializers.BooleanField):
    """true, false, 1 or 0; the framework's own field also takes `yes`, `t` and `on`."""

    def to_internal_value(self, data: Any) -> bool:
        if isinstance(data, bool):
            return data
        try:
            return parse_flag(str(data) if isinstance(data, (str, int)) else "")
        except ValueError as error:
            raise serializers.ValidationError(str(error), code="invalid") from error


class WholeNumberField(serializers.IntegerField):
    """A whole number within two limits, refused and never clamped; ASCII digits or a JSON number."""

    def __init__(self, *, min_value: int, max_value: int, **options: Any) -> None:
        super().__init__(min_value=min_value, max_value=max_value, **options)
        self.allowed = range(min_value, max_value + 1)
        self.rule = f"must be a whole number from {min_value} to {max_value}"

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, str) and _WHOLE_NUMBER.fullmatch(data):
            data = int(data)
        # A boolean is an int to Python, not to a caller.
        within = isinstance(data, int) and not isinstance(data, bool) and data in self.allowed
        if not within:
            raise serializers.ValidationError(self.rule, code="invalid")
        return int(data)


@extend_schema_field({"type": "string", "pattern": "^[0-9]+$"})
class WeiField(serializers.Field[int, str, str, int]):
    """Out: an amount in the smallest unit as a decimal string, which JavaScript can't round."""

    def __init__(self, **options: Any) -> None:
        super().__init__(read_only=True, **options)

    def to_representation(self, value: int | Decimal) -> str:
        if value != int(value):
            raise TypeError("an amount in the smallest unit has no fraction")
        return str(int(value))
