"""Dashboard panels for deployers' profiles and partner keys."""

from collections.abc import Iterable
from datetime import datetime

from django.urls import reverse
from redis.exceptions import RedisError

from accounts.keys import usage
from accounts.profiles import social_provider, social_refresh
from config.operators.dashboard import Chart, Figure, Panel

KEYS = 8
DAYS = 14


def profiles(now: datetime) -> Iterable[Panel]:
    """Yield the social provider's state."""
    yield Panel(title="Deployers' profiles", figures=(_provider(),))


def partner_keys(now: datetime) -> Iterable[Panel]:
    """Yield partner key usage per day, and the busiest keys."""
    days, busiest = usage.calls_of_all_keys(days=DAYS)
    title = "Calls with partner keys"
    if not busiest:
        text = f"No call in {DAYS} days: add a partner key, and give the partner what is shown once."
        yield Panel(title=title, empty_text=text)
        return
    bars = tuple((f"{day.day:%d %b}", day.calls) for day in days)
    yield Panel(
        title=title,
        chart=Chart(title="Calls per day, UTC", bars=bars, start=bars[0][0], end="today"),
        figures=tuple(_calls(key) for key in busiest[:KEYS]),
        note="Calls of the last minute are not counted yet.",
    )


def _calls(key: usage.KeyCalls) -> Figure:
    page = reverse("admin:accounts_partnerkey_change", args=[key.key_id])
    return Figure(label=key.name, value=f"{key.calls:,}", note=f"in {DAYS} days", page=page)


def _provider() -> Figure:
    if not social_provider.is_configured():
        return _provider_figure("none", note="neither SOCIAL_API_KEY nor FARCASTER_HUB_URL is set")
    try:
        paused = social_refresh.CIRCUIT_BREAKER.is_open()
    except RedisError:
        return _provider_figure("unknown", note="Redis does not respond", is_alarming=True)
    if paused:
        return _provider_figure("paused", note="after an error; see the log", is_alarming=True)
    return _provider_figure("in use", note="the list has the due times")


def _provider_figure(value: str, *, note: str, is_alarming: bool = False) -> Figure:
    page = reverse("admin:accounts_socialprofile_changelist")
    return Figure(label="Provider", value=value, note=note, page=page, is_alarming=is_alarming)
