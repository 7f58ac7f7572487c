"""Contract calls for the caller's own wallet to sign. No key of the service signs or sends them."""

import json
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class UnsignedCall:
    """One call of a wallet's batch, as EIP-5792 names its fields.

    `to` is EIP-55, `data` is 0x hex, `value` is in wei, and `text` is one sentence about the effect.
    """

    to: str
    data: str
    value: int
    text: str


def quote(text: str) -> str:
    """Return a caller's text in quotes, for a call's sentence.

    It may contain line breaks and whole sentences, and characters that reverse what follows.
    """
    return json.dumps(text, ensure_ascii=not text.isprintable())
