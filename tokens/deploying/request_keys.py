"""Request keys: partners' idempotency keys, and values derived from them."""

import hashlib
import json
import re
from typing import Any

from django.utils.crypto import salted_hmac

from accounts.models import PartnerKey
from config.parsing.json_rules import Schema, described

KEY_LENGTH = 32
_VISIBLE_KEY = re.compile(f"[!-~]{{{KEY_LENGTH}}}")
REQUEST_KEY_SCHEMA: Schema = {"type": "string", "pattern": f"^{_VISIBLE_KEY.pattern}$"}
# A dry run and the real request are the same launch request.
_DRY_RUN = "dryRun"


def find_request_key(body: Any) -> str | None:
    """Return an unvalidated body's request key; None if it has no well-formed one."""
    token = body.get("token") if isinstance(body, dict) else None
    text = token.get("requestKey") if isinstance(token, dict) else None
    return str(text) if is_request_key(text) else None


def body_digest(body: dict[str, Any]) -> str:
    """Return a body's SHA-256 digest in hex, over compact JSON with sorted keys and without `dryRun`."""
    request = {name: value for name, value in body.items() if name != _DRY_RUN}
    text = json.dumps(request, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def create2_salt(request_key: str, *, partner: PartnerKey | None, wallet: str = "") -> str:
    """Return the salt for a deployment's CREATE2 address, 0x and 64 hex digits; fixed per key and partner.

    It is an HMAC with SECRET_KEY, so that no outsider can compute it and launch at the address first. Without a
    partner, `wallet` (EIP-55) keeps callers' keys apart from each other's and from the operators'.
    """
    owner = wallet if partner is None else str(partner.pk)
    return "0x" + salted_hmac("launchboard.deployment", f"{owner}:{request_key}", algorithm="sha256").hexdigest()


@described(
    REQUEST_KEY_SCHEMA | {"description": f"Idempotency key: {KEY_LENGTH} visible ASCII characters of your choice."}
)
def request_key(value: Any) -> str:
    """Parse a request key: 32 visible ASCII characters."""
    if not is_request_key(value):
        raise ValueError(f"must be a text of {KEY_LENGTH} visible ASCII characters")
    return str(value)


def is_request_key(value: Any) -> bool:
    """Return whether any value is 32 visible ASCII characters: no white space, no controls."""
    return isinstance(value, str) and _VISIBLE_KEY.fullmatch(value) is not None
