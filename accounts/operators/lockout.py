"""Who is locked out of the admin site after wrong passwords, and what they are told: what django-axes asks us for."""

import math
from collections.abc import Mapping
from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from config.api.client_ip import UNKNOWN, client_address

# An address of nobody: rows without one would not be told apart from each other.
_NO_ADDRESS = "::"


def address_of(request: HttpRequest) -> str:
    """By what address log-ins are counted: as the calls of the API, an IPv6 network by its first address."""
    address = client_address(request)
    return _NO_ADDRESS if address == UNKNOWN else address.partition("/")[0]


def refuse(request: HttpRequest, response: HttpResponse | None, credentials: Mapping[str, Any] | None) -> HttpResponse:
    """The page of whoever is locked out: 429, and when it is worth while to come back.

    Endpoints have answered by themselves, in the same words as to a wrong password.
    """
    if response is not None and request.path_info.startswith("/api/"):
        return response
    seconds = _seconds_left((credentials or {}).get("username"), address_of(request))
    context = {"minutes": math.ceil(seconds / 60)}
    refused = render(request, "accounts/locked_out.html", context, status=429)
    refused.headers["Retry-After"] = str(seconds)
    refused.headers["Cache-Control"] = "no-store"
    return refused


def _seconds_left(username: str | None, address: str) -> int:
    """Until the last failure is forgotten, rounded up; never nought."""
    attempts = AccessAttempt.objects.filter(username=username, ip_address=address)
    last = attempts.aggregate(last=Max("attempt_time"))["last"] or timezone.now()
    left = (last + settings.AXES_COOLOFF_TIME - timezone.now()).total_seconds()
    return max(1, math.ceil(left))
