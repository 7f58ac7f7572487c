"""Rows of the refusal tables: a change of an operation's valid request, and the response."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from tests.rows.changed_bodies import ABSENT

ADDRESS, MINT = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "So11111111111111111111111111111111111111112"
# Instead of a field: the body as a whole.
BODY = ""

EVM_ADDRESS = "must be a 20-byte hex address, 0x followed by 40 hex digits"
ANY_ADDRESS = f"{EVM_ADDRESS}, or a base58 mint of 32 bytes"
BASE58_ON_SOLANA = "must be base58 of 32 bytes: chain 101 is Solana"
HEX_ELSEWHERE = "must be a 20-byte hex address on a chain other than Solana"
POOL = (
    "must be a pool address, 0x followed by 40 hex digits, a pool id, 0x followed by 64 hex digits, or a base58 pool "
    "address of 32 bytes"
)
CHAIN = "must be a chain of this service"
CURSOR = "must be the cursor of an earlier answer of this list"
FLAG = "must be true, false, 1 or 0"
IS_BLANK, IS_NULL, IS_REQUIRED = (
    f"This field {rule}." for rule in ("may not be blank", "may not be null", "is required")
)
OBJECT = "must be a JSON object"
UNIX_SECONDS = "must be Unix seconds, a whole number from 0 to 253402300799"


@dataclass(frozen=True)
class Refusal:
    """A refused request.

    `changes` maps parameters and body paths, such as `rewards[0].admin`, to values. `details` maps fields to rules.
    """

    changes: Mapping[str, Any]
    error: str
    details: Mapping[str, str]
    status: int = 400
    # None for the operation's.
    media_type: str | None = None

    @property
    def body(self) -> dict[str, Any]:
        """The response's body, without the keys that some feeds and endpoints add."""
        details = [{"field": field, "message": rule} for field, rule in self.details.items()]
        return {"error": self.error} | ({"details": details} if details else {})


Rows = tuple[Refusal, ...]


def sentence(field: str, rule: str) -> str:
    """Return the error of a field's broken rule."""
    text = rule.removesuffix(".").removeprefix("This field ")
    return f"{field} {text}" if text[0].islower() else f"{field}: {text}"


def wrong(field: str, rule: str, *values: Any, **others: Any) -> Rows:
    """Return a row for each value that the field refuses, with other changes beside it."""
    return tuple(Refusal({field: value, **others}, sentence(field, rule), {field: rule}) for value in values)


def required(*fields: str) -> Rows:
    """Return rows for parameters that are absent or have no value."""
    return tuple(row for field in fields for row in wrong(field, IS_REQUIRED, ABSENT, ""))


def broken(field: str, rule: str, **changes: Any) -> Rows:
    """Return a row for changes that break a rule of this field."""
    return (Refusal(changes, sentence(field, rule), {field: rule}),)


def whole(rule: str, *bodies: Any, field: str = "") -> Rows:
    """Return rows for whole bodies. Without a field, the error is the rule alone."""
    error = sentence(field, rule) if field else rule
    return tuple(Refusal({BODY: body}, error, {field or "body": rule}) for body in bodies)


def unknown(error: str, **changes: Any) -> Rows:
    """Return a 404 row for each combination of the changes; a tuple has several values."""
    values = [value if isinstance(value, tuple) else (value,) for value in changes.values()]
    rows = [dict(zip(changes, row, strict=True)) for row in product(*values)]
    return tuple(Refusal(row, error, {}, status=404) for row in rows)


def oversized(field: str) -> Rows:
    """Return a row for a launch of more than a mebibyte without an airdrop, and one with a bad airdrop."""
    padding = "x" * 2**20
    entries = {"entries": [{"account": ADDRESS, "amount": 1}, padding], "lockupDuration": 1}
    error = f"Request body without an airdrop is over {2**20} bytes"
    return (Refusal({field: padding}, error, {}, status=413), *broken("airdrop.entries[1]", OBJECT, airdrop=entries))


def number(least: int, most: int) -> str:
    """Return the rule for a whole number."""
    return f"must be a whole number from {least} to {most}"


def of_evm(reason: str) -> tuple[str, str]:
    """Return the rules for an address and for a chain where Solana lacks something."""
    return f"must be of an EVM chain, since {reason}: a 20-byte hex address", f"must be an EVM chain, since {reason}"
