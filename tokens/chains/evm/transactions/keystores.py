"""Encrypted key files (Web3 Secret Storage, version 3), as geth, clef and eth-account write them.

Source: https://ethereum.org/en/developers/docs/data-structures-and-encoding/web3-secret-storage/. Decrypted here with
hashlib and pycryptodome: eth-account and eth-keyfile import the pairings of another curve, which would add 0.6 s to
the start of every process.
"""

import hashlib
import hmac
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from Crypto.Cipher import AES
from eth_keys.datatypes import PrivateKey
from eth_utils.address import is_hex_address
from eth_utils.crypto import keccak
from eth_utils.exceptions import ValidationError

from tokens.chains.addresses import checksum_address
from tokens.chains.errors import SignerRejectedError

# Raised for content of the wrong shape, by this module and by the libraries.
_UNUSABLE = (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, MemoryError, ValidationError)
# Bytes that scrypt may use, the most that OpenSSL accepts; geth's usual parameters need 256 MiB.
_SCRYPT_MAX_MEMORY = 2**31 - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Keystore:
    """A key file. `address` (EIP-55) is stored there in plain text, so that reading it needs no decryption."""

    address: str
    crypto: dict[str, Any] = field(repr=False)


def read_keystore(path: Path) -> Keystore:
    """Read a key file without decrypting it. Raises SignerRejectedError with the reason, without the path."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_lower_keys)
    except OSError as error:
        raise SignerRejectedError(f"the file can't be read: {error.strerror}") from None
    except ValueError:
        raise SignerRejectedError("the file is not JSON") from None
    crypto = isinstance(content, dict) and content.get("crypto")
    if not isinstance(crypto, dict) or content.get("version") != 3:
        raise SignerRejectedError("the file is not an encrypted key of version 3")
    address = content.get("address")
    if not is_hex_address(address):
        raise SignerRejectedError("the file has no `address`: write it there")
    return Keystore(address=checksum_address(address), crypto=crypto)


def decrypt_keystore(keystore: Keystore, *, password: str) -> bytes:
    """Return the private key of 32 bytes. Takes seconds, by design of the format. Raises SignerRejectedError."""
    try:
        private_key = _decrypt(keystore.crypto, password.encode())
        address = PrivateKey(private_key).public_key.to_checksum_address()
    except _UNUSABLE:
        # `from None`: the cause of a wrong password must not be logged.
        raise SignerRejectedError(f"the keystore of {keystore.address} does not open with the password") from None
    if address != keystore.address:
        raise SignerRejectedError(f"the keystore of {keystore.address} holds the key of another address")
    return private_key


def _decrypt(crypto: dict[str, Any], password: bytes) -> bytes:
    """Verify the password by the MAC and decrypt. Raises one of `_UNUSABLE`."""
    if crypto["cipher"] != "aes-128-ctr":
        raise ValueError("an unknown cipher")
    key, ciphertext = _derive_key(crypto["kdf"], crypto["kdfparams"], password), _hex(crypto["ciphertext"])
    if not hmac.compare_digest(keccak(key[16:32] + ciphertext), _hex(crypto["mac"])):
        raise ValueError("a wrong password")
    cipher = AES.new(key[:16], AES.MODE_CTR, nonce=b"", initial_value=_hex(crypto["cipherparams"]["iv"]))
    return cipher.decrypt(ciphertext)


def _derive_key(kdf: str, params: dict[str, Any], password: bytes) -> bytes:
    salt, size = _hex(params["salt"]), params["dklen"]
    if kdf == "scrypt":
        n, r, p = params["n"], params["r"], params["p"]
        return hashlib.scrypt(password, salt=salt, n=n, r=r, p=p, dklen=size, maxmem=_SCRYPT_MAX_MEMORY)
    if kdf == "pbkdf2" and params["prf"] == "hmac-sha256":
        return hashlib.pbkdf2_hmac("sha256", password, salt, params["c"], size)
    raise ValueError("an unknown key derivation function")


def _lower_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a JSON object with lower-case keys: old files of geth have `Crypto`."""
    return {key.lower(): value for key, value in pairs}


def _hex(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x"))
