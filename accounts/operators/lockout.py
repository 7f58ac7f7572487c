"""Admin site lockout after wrong passwords: callables for django-axes."""

import math
from collections.abc import Mapping
from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import Max
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.operators.login_limits import refusal_page
from config.web.client_ip import UNKNOWN_ADDRESS, client_address

# Placeholder for an unknown address; rows without an address would not be distinct.
_NO_ADDRESS = "::"


def login_address(request: HttpRequest) -> str:
    """Return the address for counting log-ins: the client's, or the first address in its IPv6 network."""
    address = client_address(request)
    return _NO_ADDRESS if address == UNKNOWN_ADDRESS else address.partition("/")[0]


def lockout_response(
    request: HttpRequest, response: HttpResponse | None, credentials: Mapping[str, Any] | None
) -> HttpResponse:
    """Return the lockout page: 429 with Retry-After.

    API endpoints have already built their response, with the same text as for a wrong password.
    """
    if response is not None and request.path_info.startswith("/api/"):
        return response
    seconds = _seconds_left((credentials or {}).get("username"), login_address(request))
    minutes = math.ceil(seconds / 60)
    text = (
        f"This name is locked out here for {minutes} more minute{'' if minutes == 1 else 's'}. Further attempts do not "
        "extend this time. The operator of this installation can unlock it earlier."
    )
    return refusal_page(request, title="Too many wrong passwords", text=text, status=429, seconds=seconds)


def _seconds_left(username: str | None, address: str) -> int:
    """Return the seconds until the last failure expires, rounded up, at least 1."""
    attempts = AccessAttempt.objects.filter(username=username, ip_address=address)
    last_failure = attempts.aggregate(last=Max("attempt_time"))["last"] or timezone.now()
    remaining = (last_failure + settings.AXES_COOLOFF_TIME - timezone.now()).total_seconds()
    return max(1, math.ceil(remaining))
