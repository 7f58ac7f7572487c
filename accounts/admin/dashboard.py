"""Panels of the operators' dashboard about deployers' profiles and partner keys."""

from collections.abc import Iterable
from datetime import datetime

from django.urls import reverse
from redis.exceptions import RedisError

from accounts.keys import usage
from accounts.profiles import social_provider
from accounts.profiles import social_refresh as social_profiles
from config.operators.dashboard import Chart, Figure, Panel

KEYS = 8
DAYS = 14


def profiles(now: datetime) -> Iterable[Panel]:
    """Whether the social provider is asked."""
    yield Panel(title="Deployers' profiles", figures=(_provider(),))


def partner_keys(now: datetime) -> Iterable[Panel]:
    """How much partner keys are used, and by whom most."""
    days, busiest = usage.requests_of_all(days=DAYS)
    if busiest:
        bars = tuple((f"{of.day:%d %b}", of.calls) for of in days)
        yield Panel(
            title="Calls with partner keys",
            chart=Chart(title="Calls per day, UTC", bars=bars, start=bars[0][0], end="today"),
            figures=tuple(_calls(key) for key in busiest[:KEYS]),
            note="Calls of the last minute are not counted yet.",
        )


def _calls(key: usage.KeyCalls) -> Figure:
    page = reverse("admin:accounts_partnerkey_change", args=[key.key_id])
    return Figure(label=key.name, value=f"{key.calls:,}", note=f"in {DAYS} days", page=page)


def _provider() -> Figure:
    if not social_provider.is_configured():
        return _say("none", note="neither SOCIAL_API_KEY nor FARCASTER_HUB_URL is set")
    try:
        paused = social_profiles.PAUSE.is_on()
    except RedisError:
        return _say("unknown", note="Redis does not answer", is_alarming=True)
    if paused:
        return _say("left alone", note="after an error, which the log has", is_alarming=True)
    return _say("asked", note="the list says who is due when")


def _say(value: str, *, note: str, is_alarming: bool = False) -> Figure:
    page = reverse("admin:accounts_socialprofile_changelist")
    return Figure(label="Provider", value=value, note=note, page=page, is_alarming=is_alarming)
