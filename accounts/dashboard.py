"""Panels of the operators' dashboard about deployers' profiles and partner keys."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.urls import reverse
from redis.exceptions import RedisError

from accounts import profiles as social_profiles
from accounts import social_provider, usage
from accounts.usage import KeyCalls
from config.operators.dashboard import Figure, Panel

# The busiest keys, and the days whose calls count, today included.
KEYS = 8
DAYS = 7


def profiles(now: datetime) -> Iterable[Panel]:
    """Whether the social provider is asked."""
    yield Panel(title="Deployers' profiles", figures=(_provider(),))


def partner_calls(now: datetime) -> Iterable[Panel]:
    """The keys that called most in the last days; calls of the last minute are not stored yet."""
    called = usage.requests_per_key((now - timedelta(days=DAYS - 1)).date())
    if called:
        total = sum(key.calls for key in called)
        note = f"{total:,} calls of {len(called)} keys in {DAYS} days (UTC)"
        yield Panel(title="Calls by partner key", figures=tuple(map(_calls, called[:KEYS])), note=note)


def _calls(key: KeyCalls) -> Figure:
    page = reverse("admin:accounts_partnerkey_change", args=[key.key_id])
    return Figure(label=key.name, value=f"{key.calls:,}", page=page)


def _provider() -> Figure:
    if not social_provider.is_configured():
        return _say("none", note="neither SOCIAL_API_KEY nor FARCASTER_HUB_URL is set")
    try:
        paused = social_profiles.is_paused()
    except RedisError:
        return _say("unknown", note="Redis does not answer", is_alarming=True)
    if paused:
        return _say("left alone", note="after an error, which the log has", is_alarming=True)
    return _say("asked", note="the list says who is due when")


def _say(value: str, *, note: str, is_alarming: bool = False) -> Figure:
    page = reverse("admin:accounts_socialprofile_changelist")
    return Figure(label="Provider", value=value, note=note, page=page, is_alarming=is_alarming)
