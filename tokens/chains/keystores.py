"""Encrypted key files (Web3 Secret Storage, version 3), as geth, clef and eth-account write them.

eth-account reads them, too, and brings along the pairings of another curve, which half a second of each start of a
process goes to.

Source: https://ethereum.org/en/developers/docs/data-structures-and-encoding/web3-secret-storage/
"""

import hashlib
import hmac
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from Crypto.Cipher import AES
from eth_keys.datatypes import PrivateKey
from eth_utils.address import is_hex_address, to_checksum_address
from eth_utils.crypto import keccak
from eth_utils.exceptions import ValidationError

from tokens.chains.base import SignerRefused

# What the libraries raise for a wrong password, and for a file in which anything else than it should be.
_UNUSABLE = (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, ValidationError)
# Of the derived key, how many bytes decrypt; as many behind them authenticate.
_HALF_KEY_BYTES = 16


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
    try:
        private_key = _decrypt(_in_lower_case(keystore.content)["crypto"], password.encode())
        address = PrivateKey(private_key).public_key.to_checksum_address()
    except _UNUSABLE:
        # `from None`: what is told of a wrong password is nobody's business.
        raise SignerRefused(f"the keystore of {keystore.address} does not open with the password") from None
    if address != keystore.address:
        raise SignerRefused(f"the keystore of {keystore.address} holds the key of another address")
    return private_key


def _decrypt(crypto: dict[str, Any], password: bytes) -> bytes:
    """Raises what _UNUSABLE names, ValueError for a wrong password."""
    derived = _derive(crypto["kdf"], crypto["kdfparams"], password)
    encryption_key, authentication_key = derived[:_HALF_KEY_BYTES], derived[_HALF_KEY_BYTES : 2 * _HALF_KEY_BYTES]
    ciphertext = _bytes(crypto["ciphertext"])
    if not hmac.compare_digest(keccak(authentication_key + ciphertext), _bytes(crypto["mac"])):
        raise ValueError("the password is another one")
    if crypto["cipher"] != "aes-128-ctr":
        raise ValueError("a cipher that the format does not have")
    start = int.from_bytes(_bytes(crypto["cipherparams"]["iv"]), "big")
    return AES.new(encryption_key, AES.MODE_CTR, nonce=b"", initial_value=start).decrypt(ciphertext)


def _derive(function: str, parameters: dict[str, Any], password: bytes) -> bytes:
    salt, length = _bytes(parameters["salt"]), parameters["dklen"]
    if length < 2 * _HALF_KEY_BYTES:
        raise ValueError("a key too short to authenticate")
    if function == "pbkdf2" and parameters["prf"] == "hmac-sha256":
        return hashlib.pbkdf2_hmac("sha256", password, salt, parameters["c"], length)
    if function == "scrypt":
        n, r, p = parameters["n"], parameters["r"], parameters["p"]
        # What it takes of memory, and some to spare: the default allows less than geth's files need.
        memory = 128 * r * (n + p + 2) + 2**20
        return hashlib.scrypt(password, salt=salt, n=n, r=r, p=p, maxmem=memory, dklen=length)
    raise ValueError("a function that the format does not have")


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x"))


def _in_lower_case(value: Any) -> Any:
    """The content with the keys of all its objects in lower case: some wallets write `Crypto`."""
    if isinstance(value, dict):
        return {key.lower(): _in_lower_case(inner) for key, inner in value.items()}
    return value
