"""Notices to a webhook endpoint's owner: an event, and a mail where mail is configured."""

import logging
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction

from accounts.models import WebhookEndpoint
from accounts.subscriptions.endpoint_events import Notice
from config.events.models import EventAudience, OutboxEvent
from config.parsing.timestamps import format_timestamp

logger = logging.getLogger(__name__)

# Days with only failures after which an endpoint is disabled; after half of them its owner gets a notice.
DAYS_UNTIL_DISABLED = 5

_TEXTS = {
    Notice.FAILING: (
        "Webhook endpoint is failing",
        "All deliveries to {url} have failed since {since}. It is disabled after {days} days of failures.",
    ),
    Notice.DISABLED: (
        "Webhook endpoint is disabled",
        "{url} gets no events any more: {reason}. Repair it, enable it, and replay the events that it missed.",
    ),
}


def store_notice(notice: Notice, endpoint: WebhookEndpoint) -> None:
    """Store a notice's event in this database transaction, and send its mail after the commit."""
    since = format_timestamp(endpoint.failing_since) if endpoint.failing_since else None
    data = {
        "endpointId": endpoint.pk,
        "url": endpoint.url,
        "failingSince": since,
        "reason": endpoint.disabled_reason,
    }
    owner_id = endpoint.partner_key_id
    OutboxEvent.objects.create(
        type=notice,
        version=1,
        subject=str(endpoint.pk),
        audience=EventAudience.OPERATORS if owner_id is None else EventAudience.PARTNER,
        owner_id=owner_id,
        data=data,
    )
    transaction.on_commit(lambda: _send_mail(notice, data, to=endpoint.email))


def _send_mail(notice: Notice, data: dict[str, Any], *, to: str) -> None:
    receivers = [address for address in (to, *settings.OPERATOR_EMAILS) if address]
    if not settings.EMAIL_HOST or not receivers:
        return
    subject, text = _TEXTS[notice]
    words = {"url": data["url"], "since": data["failingSince"], "reason": data["reason"]}
    body = text.format(**words, days=DAYS_UNTIL_DISABLED)
    # One mail each: no receiver sees another's address.
    for receiver in receivers:
        try:
            send_mail(subject, body, None, [receiver])
        except (OSError, SMTPException) as error:
            # The event is stored, and the dashboard shows the endpoint.
            logger.warning("can't send a mail about webhook endpoint %s: %s", data["endpointId"], error)
