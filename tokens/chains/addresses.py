"""Parsers and checksums for addresses, pools and transaction ids on EVM chains (hex) and Solana (base58).

The parsers return the stored form, or raise ValueError with the rule in words ("must be ...").
"""

import re
from functools import lru_cache
from typing import Annotated, Any

from base58 import b58decode
from sha3 import keccak_256
from solders.pubkey import Pubkey
from solders.signature import Signature

from config.parsing.response_types import Keywords

HEX_ADDRESS = "0[xX][0-9a-fA-F]{40}"
_HEX_ADDRESS = re.compile(HEX_ADDRESS)
_BARE_ADDRESS = re.compile("(?:0[xX])?([0-9a-fA-F]{40})")
_HEX_HASH = re.compile(r"0[xX][0-9a-fA-F]{64}")
# Upper and lower case are different digits.
_BASE58_DIGIT = "[1-9A-HJ-NP-Za-km-z]"
_BASE58 = re.compile(f"{_BASE58_DIGIT}*")
# 32 and 64 bytes have this many digits; no pattern can express the exact number of bytes.
_SOLANA_ADDRESS = f"{_BASE58_DIGIT}{{32,44}}"
_SOLANA_SIGNATURE = f"{_BASE58_DIGIT}{{64,88}}"

_EVM_BYTES, _HASH_BYTES = 20, 32
# The native coin's address in v4 pools; elsewhere no account has it.
ZERO_ADDRESS = "0x" + "00" * 20

# JSON Schemas for the texts that the parsers below accept.
ADDRESS_SHAPE: dict[str, Any] = {"type": "string", "pattern": f"^{HEX_ADDRESS}$"}
ADDRESS_OR_MINT_SHAPE: dict[str, Any] = {
    "type": "string",
    "pattern": f"^({HEX_ADDRESS}|{_SOLANA_ADDRESS})$",
}
# Addresses in responses.
Address = Annotated[str, Keywords(**ADDRESS_SHAPE)]
AddressOrMint = Annotated[str, Keywords(**ADDRESS_OR_MINT_SHAPE)]
POOL_SHAPE: dict[str, Any] = {
    "type": "string",
    "pattern": f"^({HEX_ADDRESS}|{_HEX_HASH.pattern}|{_SOLANA_ADDRESS})$",
}
TRANSACTION_HASH_SHAPE: dict[str, Any] = {"type": "string", "pattern": f"^{_HEX_HASH.pattern}$"}
TRANSACTION_SHAPE: dict[str, Any] = {"type": "string", "pattern": f"^({_HEX_HASH.pattern}|{_SOLANA_SIGNATURE})$"}

ADDRESS_RULE = "must be a 20-byte hex address, 0x followed by 40 hex digits"
ADDRESS_OR_MINT_RULE = "must be a 20-byte hex address, 0x followed by 40 hex digits, or a base58 mint of 32 bytes"
POOL_RULE = (
    "must be a pool address, 0x followed by 40 hex digits, a pool id, 0x followed by 64 hex digits, or a base58 pool "
    "address of 32 bytes"
)
TRANSACTION_HASH_RULE = "must be a transaction hash, 0x followed by 64 hex digits"
TRANSACTION_RULE = f"{TRANSACTION_HASH_RULE}, or a base58 signature of 64 bytes"

# EIP-55: a letter is a capital where the lower-case digits' keccak-256 has 8 or more at the same index. In ASCII one
# bit, 0x20, distinguishes the cases, so that all 40 digits are converted at once.
_CASE_BIT = 0x20
_CAPITAL = bytes(_CASE_BIT if chr(byte) in "89abcdef" else 0 for byte in range(256))
_LETTER = bytes(_CASE_BIT if chr(byte) in "abcdef" else 0 for byte in range(256))

# Decoding time grows with the square of the length. No transaction exceeds these digits; programs may pass each other
# more data, which this service does not decode.
_MAX_BASE58_DIGITS = 2_048


def address_key(address: str) -> str:
    """Return the form in which all spellings for one address are equal: hex in lower case, base58 unchanged."""
    return address.lower() if address.startswith("0x") else address


def checksum_address(address: str) -> str:
    """Return the EIP-55 form of 40 hex digits in any case, with or without 0x. Raises ValueError."""
    digits = _BARE_ADDRESS.fullmatch(address)
    if digits is None:
        raise ValueError("an address that is not of 20 bytes in hex")
    return checksum_bytes(bytes.fromhex(digits[1]))


@lru_cache(maxsize=8_192)
def checksum_bytes(raw: bytes) -> str:
    """Return the EIP-55 form of an address in bytes.

    Cached, because factories, hooks, lockers and paired tokens recur, and a hash costs some microseconds.
    """
    digits = raw.hex().encode()
    hashed = keccak_256(digits).digest()[: len(raw)].hex().encode()
    capitals = int.from_bytes(hashed.translate(_CAPITAL), "big") & int.from_bytes(digits.translate(_LETTER), "big")
    return "0x" + (int.from_bytes(digits, "big") ^ capitals).to_bytes(len(digits), "big").decode()


def format_address(raw: bytes) -> str:
    """Return an address in its stored form, from 20 bytes for an EVM chain or 32 bytes for Solana."""
    return checksum_bytes(raw) if len(raw) == _EVM_BYTES else str(Pubkey(raw))


def format_transaction(raw: bytes) -> str:
    """Return a transaction id in its stored form, from a 32-byte EVM hash or a 64-byte Solana signature."""
    return f"0x{raw.hex()}" if len(raw) == _HASH_BYTES else str(Signature(raw))


def parse_address(text: str, *, allow_mint: bool = False, mint_rule: str = ADDRESS_RULE) -> str:
    """Parse an EVM address in any case to EIP-55; with `allow_mint` also a Solana mint, unchanged.

    Raises ValueError; without `allow_mint`, `mint_rule` is the error text for a mint.
    """
    if _HEX_ADDRESS.fullmatch(text):
        return checksum_address(text)
    if not is_solana_address(text):
        raise ValueError(ADDRESS_OR_MINT_RULE if allow_mint else ADDRESS_RULE)
    if not allow_mint:
        raise ValueError(mint_rule)
    return text


def parse_pool_address(text: str) -> str:
    """Parse a pool: 20 bytes to EIP-55, a 32-byte v4 pool id to lower case, a base58 Solana pool unchanged.

    Raises ValueError.
    """
    if _HEX_ADDRESS.fullmatch(text):
        return checksum_address(text)
    if _HEX_HASH.fullmatch(text):
        return text.lower()
    if is_solana_address(text):
        return text
    raise ValueError(POOL_RULE)


def parse_transaction_hash(text: str, *, allow_signature: bool = False) -> str:
    """Parse a transaction hash in any case to lower case; with `allow_signature` also a Solana signature, unchanged.

    Raises ValueError.
    """
    if _HEX_HASH.fullmatch(text):
        return text.lower()
    if allow_signature and is_solana_signature(text):
        return text
    raise ValueError(TRANSACTION_RULE if allow_signature else TRANSACTION_HASH_RULE)


def is_solana_address(text: str) -> bool:
    """Return whether the text is base58 for exactly 32 bytes: a Solana mint, wallet, pool or program."""
    try:
        Pubkey.from_string(text)
    except ValueError:
        return False
    return True


def is_solana_signature(text: str) -> bool:
    """Return whether the text is base58 for exactly 64 bytes: the signature that identifies a Solana transaction."""
    try:
        Signature.from_string(text)
    except ValueError:
        return False
    return True


def is_base58(text: str) -> bool:
    """Return whether the text is base58 for any number of bytes."""
    return _BASE58.fullmatch(text) is not None


@lru_cache(maxsize=1_024)
def decode_base58(text: str) -> bytes:
    """Decode base58 with up to 2,048 digits; solders parses keys and signatures. Raises ValueError."""
    if len(text) > _MAX_BASE58_DIGITS:
        raise ValueError(f"base58 of more than {_MAX_BASE58_DIGITS} characters")
    if not is_base58(text):
        raise ValueError("a character that is not of base58")
    return b58decode(text)
