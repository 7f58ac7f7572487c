"""Partner key check for `manage.py doctor`: which expire soon, and what their digests depend on."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings

from accounts.models import KeyState, PartnerKey
from config.doctor.findings import Finding, Level

_SOON = timedelta(days=14)
_SHOWN = 20


def partner_keys(now: datetime) -> Iterator[Finding]:
    """Yield the active keys that expire within two weeks, and whether SECRET_KEY is their pepper."""
    active = PartnerKey.objects.in_state(KeyState.ACTIVE)
    for key in active.filter(expires_at__lte=now + _SOON).order_by("expires_at")[:_SHOWN]:
        yield Finding(
            level=Level.WARNING,
            summary=f"The key {key.pk}, {key.name}, expires at {key.expires_at:%Y-%m-%d %H:%M} UTC.",
            action="Extend its expiry in the admin site, or issue another one to the partner.",
            guide="repairing.md#partner-keys",
        )
    count = active.count()
    is_shared = bool(count) and settings.PARTNER_KEY_PEPPER == settings.SECRET_KEY
    yield Finding(
        level=Level.WARNING if is_shared else Level.OK,
        summary=f"{count:,} partner keys are active{'; their digests depend on SECRET_KEY' if is_shared else ''}.",
        action="Set PARTNER_KEY_PEPPER to the present SECRET_KEY, before SECRET_KEY is changed." if is_shared else "",
        guide="repairing.md#partner-keys",
    )
