"""Verification of webhook deliveries, by the library of Standard Webhooks."""

from collections.abc import Mapping
from typing import cast

import standardwebhooks

from launchboard.operations import WebhookEvent

WebhookVerificationError = standardwebhooks.WebhookVerificationError


def verify_webhook(body: bytes, headers: Mapping[str, str], *, secret: str) -> WebhookEvent:
    """Return the event of a delivery. Raises WebhookVerificationError if it is forged or over five minutes old.

    `secret` is that of the endpoint, `whsec_...`; `body` is as received, before any parser.
    """
    names = {name.lower(): value for name, value in headers.items()}
    webhook = standardwebhooks.Webhook(secret)
    try:
        return cast(WebhookEvent, webhook.verify(body, names))
    except ValueError as error:
        # Of parts of a signature, or of a body, that can't be decoded.
        raise WebhookVerificationError("Malformed signature or body") from error
