"""Panels of the operators' dashboard about deployers' profiles and partner keys."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import F
from django.urls import reverse
from redis.exceptions import RedisError

from accounts import profiles as social_profiles
from accounts import social_provider
from accounts.models import KeyState, PartnerKey
from config.operators.dashboard import Figure, Panel, ago

KEYS = 8


def profiles(now: datetime) -> Iterable[Panel]:
    """Whether the social provider is asked."""
    yield Panel(title="Deployers' profiles", figures=(_provider(),))


def partner_keys(now: datetime) -> Iterable[Panel]:
    """The keys that were used last."""
    active = PartnerKey.objects.in_state(KeyState.ACTIVE)
    used = active.order_by(F("last_used_at").desc(nulls_last=True), "-id")[:KEYS]
    figures = tuple(
        Figure(
            label=key.name,
            value=ago(key.last_used_at, now),
            note=f"expires {key.expires_at:%Y-%m-%d}" if key.expires_at else "",
            page=reverse("admin:accounts_partnerkey_change", args=[key.pk]),
        )
        for key in used
    )
    if figures:
        yield Panel(title="Partner keys used last", figures=figures)


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
