"""Body of a sign-in."""

import re
from typing import Any

from rest_framework import serializers

from config.api.fields import ShapedField

# A signature of a wallet that is not deployed contains its deployment.
_MAX_DIGITS = 10_000
_SIGNATURE = re.compile(f"0x(?:[0-9a-fA-F]{{2}}){{0,{_MAX_DIGITS // 2}}}")


class SignatureField(ShapedField):
    """Signature in hex. Some contract wallets accept an empty one for a message that they approved on chain."""

    rule = f"must be 0x followed by an even number of hex digits, at most {_MAX_DIGITS}"
    shape = {"type": "string", "pattern": f"^{_SIGNATURE.pattern}$"}

    def parse(self, text: str) -> bytes:
        """Return the bytes. Raises ValueError."""
        if not _SIGNATURE.fullmatch(text):
            raise ValueError(self.rule)
        return bytes.fromhex(text[2:])


class SignInBody(serializers.Serializer[Any]):
    """Signed message of a wallet."""

    message = serializers.CharField(
        min_length=1,
        max_length=4_000,
        trim_whitespace=False,
        help_text="Message as EIP-4361 specifies it, exactly as the wallet signed it: for the domain of this service "
        "or of a page that may call it, with an EVM chain that it reads, a nonce from `POST /api/sign-in/nonce`, and "
        "issued within the last ten minutes.",
    )
    signature = SignatureField(
        trim_whitespace=False,
        help_text="Signature of the message by `personal_sign`, in hex: of the address's key, or for its contract "
        "(EIP-1271), which need not be deployed yet (EIP-6492).",
    )
