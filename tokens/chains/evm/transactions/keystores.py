"""Encrypted key files (Web3 Secret Storage, version 3), as geth, clef and eth-account write them."""

import importlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eth_utils.address import is_hex_address, to_checksum_address
from eth_utils.exceptions import ValidationError

from tokens.chains.types import SignerRefused

# What the libraries raise for a wrong password, and for a file in which anything else than it should be.
_UNUSABLE = (
    *(ValueError, TypeError, KeyError, AttributeError, ArithmeticError),
    *(AssertionError, NotImplementedError, ValidationError),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Keystore:
    """A key file. `address` (EIP-55) stands there in the clear, so that knowing it costs no decryption."""

    address: str
    content: dict[str, Any] = field(repr=False)


def read_keystore(path: Path) -> Keystore:
    """Read a key file. Raises SignerRefused with what is wrong about it, without its path."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SignerRefused(f"the file can't be read: {error.strerror}") from None
    except ValueError:
        raise SignerRefused("the file is not JSON") from None
    crypto = isinstance(content, dict) and (content.get("crypto") or content.get("Crypto"))
    if not isinstance(crypto, dict) or content.get("version") != 3:
        raise SignerRefused("the file is not an encrypted key of version 3")
    address = content.get("address")
    if not is_hex_address(address):
        raise SignerRefused("the file has no `address`: write it there")
    return Keystore(address=to_checksum_address(address), content=content)


def unlock(keystore: Keystore, *, password: str) -> bytes:
    """The private key of 32 bytes. It takes seconds by design. Raises SignerRefused."""
    # Loaded when a file is opened: it brings along the pairings of another curve, which would take half a second of
    # each start of a process.
    account = importlib.import_module("eth_account").Account
    try:
        private_key = bytes(account.decrypt(keystore.content, password))
        address: str = account.from_key(private_key).address
    except _UNUSABLE:
        # `from None`: what is told of a wrong password is nobody's business.
        raise SignerRefused(f"the keystore of {keystore.address} does not open with the password") from None
    if address != keystore.address:
        raise SignerRefused(f"the keystore of {keystore.address} holds the key of another address")
    return private_key
