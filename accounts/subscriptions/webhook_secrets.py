"""Webhook secrets and signatures, by Standard Webhooks (https://www.standardwebhooks.com).

A secret is derived from the installation's pepper and the endpoint's salt: a copy of the database signs nothing.
"""

import base64
import hmac
from collections.abc import Iterable
from datetime import datetime

from django.conf import settings
from standardwebhooks import Webhook

from accounts.models import WebhookEndpoint

PREFIX = "whsec_"


def endpoint_secret(endpoint: WebhookEndpoint) -> str:
    """Return the current secret as its receiver stores it: `whsec_` and 32 bytes in base64."""
    return PREFIX + base64.b64encode(_key(bytes(endpoint.salt))).decode()


def signed_headers(endpoint: WebhookEndpoint, *, message_id: str, body: bytes, now: datetime) -> dict[str, str]:
    """Return the headers for a message, sent `now` in UTC; during a rotation with a signature by each secret."""
    signatures = [Webhook(key).sign(message_id, now, body.decode()) for key in _keys(endpoint, now)]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


def _keys(endpoint: WebhookEndpoint, now: datetime) -> Iterable[bytes]:
    yield _key(bytes(endpoint.salt))
    if endpoint.previous_salt is not None and endpoint.previous_expires_at and endpoint.previous_expires_at > now:
        yield _key(bytes(endpoint.previous_salt))


def _key(salt: bytes) -> bytes:
    return hmac.digest(settings.PARTNER_KEY_PEPPER.encode(), b"webhook secret " + salt, "sha256")
