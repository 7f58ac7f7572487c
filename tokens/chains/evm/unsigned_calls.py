"""Contract calls for the caller's own wallet to sign. No key of the service signs or sends them."""

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
