"""Encrypted key files (Web3 Secret Storage, version 3), as geth, clef and eth-account write them.

Source: https://ethereum.org/en/developers/docs/data-structures-and-encoding/web3-secret-storage/. `signing` decrypts
them.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokens.chains.addresses import checksum_address
from tokens.chains.errors import SignerRejectedError


@dataclass(frozen=True, kw_only=True, slots=True)
class Keystore:
    """A key file. `address` (EIP-55) is stored there in plain text, so that reading it needs no decryption."""

    address: str
    content: dict[str, Any] = field(repr=False)


def read_keystore(path: Path) -> Keystore:
    """Read a key file without decrypting it. Raises SignerRejectedError with the reason, without the path."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_lower_keys)
    except OSError as error:
        raise SignerRejectedError(f"the file can't be read: {error.strerror}") from None
    except ValueError:
        raise SignerRejectedError("the file is not JSON") from None
    if not isinstance(content, dict) or not isinstance(content.get("crypto"), dict) or content.get("version") != 3:
        raise SignerRejectedError("the file is not an encrypted key of version 3")
    try:
        address = checksum_address(str(content.get("address")))
    except ValueError:
        raise SignerRejectedError("the file has no `address`: write it there") from None
    return Keystore(address=address, content=content)


def _lower_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a JSON object with lower-case keys: old geth files have `Crypto`."""
    return {key.lower(): value for key, value in pairs}
