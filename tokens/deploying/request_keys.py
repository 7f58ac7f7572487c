"""Request keys: what partners call their orders, so that one order is taken once however often it is sent."""

import hashlib
import json
from typing import Any

from django.utils.crypto import salted_hmac

from accounts.models import PartnerKey
from tokens.deploying.rules.scalars import is_request_key

# What makes no other order of a body: the same one, rehearsed first, is the same order.
_DRY_RUN = "dryRun"


def read_key(body: Any) -> str | None:
    """The request key of a body that may be anything; None where it has none of the right form."""
    token = body.get("token") if isinstance(body, dict) else None
    text = token.get("requestKey") if isinstance(token, dict) else None
    return str(text) if is_request_key(text) else None


def digest(body: dict[str, Any]) -> str:
    """What tells two bodies apart, in hex: SHA-256 of the JSON without blanks, keys in order, `dryRun` left out."""
    order = {name: value for name, value in body.items() if name != _DRY_RUN}
    text = json.dumps(order, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def salt(request_key: str, *, partner: PartnerKey | None) -> str:
    """The salt of an order's CREATE2 address, 0x and 64 hex digits: the same for one key of one partner, for ever.

    Nobody who lacks SECRET_KEY can tell it beforehand, and launch at the address first.
    """
    owner = "" if partner is None else str(partner.pk)
    return "0x" + salted_hmac("launchboard.deployment", f"{owner}:{request_key}", algorithm="sha256").hexdigest()
