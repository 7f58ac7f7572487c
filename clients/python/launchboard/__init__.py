"""Client of Launchboard's HTTP API. `operations` and `schemas` are generated from the service's own description."""

from launchboard.errors import LaunchboardError
from launchboard.event_streams import EventStream, StreamEvent
from launchboard.operations import Operations, WebhookEvent
from launchboard.pages import pages
from launchboard.request_keys import new_request_key
from launchboard.webhooks import WebhookVerificationError, verify_webhook


class Launchboard(Operations):
    """A service at a URL, with a method for each operation of its API."""


__all__ = [
    "EventStream",
    "Launchboard",
    "LaunchboardError",
    "StreamEvent",
    "WebhookEvent",
    "WebhookVerificationError",
    "new_request_key",
    "pages",
    "verify_webhook",
]
