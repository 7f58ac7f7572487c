"""Panels of the operators' dashboard about deployers' profiles and partner keys."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Count, F, Min, Q
from django.urls import reverse
from redis.exceptions import RedisError

from accounts import profiles as social_profiles
from accounts import social_provider
from accounts.models import KeyState, PartnerKey, SocialProfile
from config.operators.dashboard import Figure, Panel, ago

KEYS = 8


def profiles(now: datetime) -> Iterable[Panel]:
    """Whether the social provider is asked, and for how many people it is to be."""
    due = SocialProfile.objects.filter(due_at__lte=now).aggregate(
        new=Count("pk", filter=Q(fetched_at__isnull=True)),
        known=Count("pk", filter=Q(fetched_at__isnull=False)),
        since=Min("due_at"),
    )
    page = reverse("admin:accounts_socialprofile_changelist")
    note = f"the first since {ago(due['since'], now)}" if due["since"] else ""
    yield Panel(
        title="Deployers' profiles",
        figures=(
            _provider(),
            Figure(label="New people", value=f"{due['new']:,} due", note=note, page=page),
            Figure(label="To be refreshed", value=f"{due['known']:,} due", page=page),
        ),
    )


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
    label = "Provider"
    if not social_provider.is_configured():
        return Figure(label=label, value="none", note="neither SOCIAL_API_KEY nor FARCASTER_HUB_URL is set")
    try:
        paused = social_profiles.is_paused()
    except RedisError:
        return Figure(label=label, value="unknown", note="Redis does not answer", is_alarming=True)
    if paused:
        return Figure(label=label, value="left alone", note="after an error, which the log has", is_alarming=True)
    return Figure(label=label, value="asked")
