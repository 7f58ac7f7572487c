"""Profiles of deployers: wanted when a token is indexed, fetched behind the scenes, and read with the tokens.

The truth is in the rows: each says when it is due. Whoever asks the provider takes rows for one lease, so that no FID
is asked for twice, and a killed worker loses none.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Case, F, Value, When
from django.utils import timezone

from accounts.models import SocialProfile
from accounts.profiles import social_provider
from accounts.profiles.social_responses import MAX_FID, Profile
from config.redis.circuit_breaker import Pause

BATCH = social_provider.MAX_FIDS
# Longer than a task may take.
LEASE_SECONDS = 300
# When whom the provider doesn't know is asked for again: he may be new to it. The last pause is for all later times.
UNKNOWN_PAUSES = (timedelta(hours=1), timedelta(days=1), timedelta(weeks=1), timedelta(days=30))

# In which nobody is asked for.
PAUSE = Pause.of("the social provider", "social")
# Thousands at a time may be wanted: one array costs a small part of as many rows by the ORM.
_WANT = """
INSERT INTO accounts_socialprofile
    (fid, username, display_name, pfp_url, bio, verified_addresses, due_at, misses)
SELECT fid, '', '', '', '', '{}', %s, 0 FROM unnest(%s::bigint[]) AS fid
ON CONFLICT DO NOTHING
"""
_TOLD = ("username", "display_name", "pfp_url", "bio", "verified_addresses", "score")


def want(fids: Iterable[int]) -> None:
    """Have the profiles of people fetched soon who are not known yet; the others stay as they are."""
    # In order, so that two who want the same people don't wait for each other in a circle.
    wanted = [fid for fid in sorted(set(fids)) if 0 < fid <= MAX_FID]
    if wanted:
        with connection.cursor() as cursor:
            cursor.execute(_WANT, [timezone.now(), wanted])


def refresh_due() -> int:
    """Ask the provider for up to 100 people who are due; returns for how many it had an answer.

    Whom it doesn't know comes back after growing pauses. After an error nobody is asked for as long as it says, and
    whoever got no answer is due again then, behind the others.
    """
    if PAUSE.is_on():
        return 0
    fids = claim(timezone.now())
    if not fids:
        return 0
    found = social_provider.find_people(fids)
    pause = PAUSE.begin(found.error) if found.error else 0
    now = timezone.now()
    with transaction.atomic():
        _keep(found.profiles.values(), now=now)
        _note_unknown(found.unknown, now=now)
        left = set(fids) - set(found.profiles) - found.unknown
        SocialProfile.objects.filter(fid__in=left).update(due_at=now + timedelta(seconds=pause))
    return len(fids) - len(left)


def claim(now: datetime) -> list[int]:
    """FIDs that are due and that nobody asks for, taken for one lease: new people before known ones."""
    due = SocialProfile.objects.filter(due_at__lte=now).select_for_update(skip_locked=True)
    with transaction.atomic():
        new = due.filter(fetched_at__isnull=True).order_by("due_at")[:BATCH]
        fids = list(new.values_list("fid", flat=True))
        if len(fids) < BATCH:
            known = due.filter(fetched_at__isnull=False).order_by("due_at")[: BATCH - len(fids)]
            fids += known.values_list("fid", flat=True)
        SocialProfile.objects.filter(fid__in=fids).update(due_at=now + timedelta(seconds=LEASE_SECONDS))
    return fids


def users_by_fid(fids: Iterable[int | None]) -> dict[int, dict[str, Any]]:
    """FID -> what goes out as `related.user`, in one query; who was never fetched is absent."""
    known = SocialProfile.objects.filter(fid__in={fid for fid in fids if fid is not None}, fetched_at__isnull=False)
    return {profile.fid: _related_user(profile) for profile in known}


def _related_user(profile: SocialProfile) -> dict[str, Any]:
    # Older clients read the spelling with underscores.
    return {
        "fid": profile.fid,
        "username": profile.username or None,
        "displayName": profile.display_name or None,
        "display_name": profile.display_name or None,
        "pfpUrl": profile.pfp_url or None,
        "pfp_url": profile.pfp_url or None,
        "bio": profile.bio or None,
        "verifiedAddresses": profile.verified_addresses,
    }


def _keep(profiles: Iterable[Profile], *, now: datetime) -> None:
    due_at = now + timedelta(hours=settings.SOCIAL_REFRESH_HOURS)
    rows = [
        SocialProfile(
            fid=profile.fid,
            username=profile.username,
            display_name=profile.display_name,
            pfp_url=profile.pfp_url,
            bio=profile.bio,
            verified_addresses=list(profile.verified_addresses),
            score=profile.score,
            fetched_at=now,
            due_at=due_at,
            misses=0,
        )
        for profile in sorted(profiles, key=lambda profile: profile.fid)
    ]
    SocialProfile.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["fid"],
        update_fields=[*_TOLD, "fetched_at", "due_at", "misses"],
    )


def _note_unknown(fids: Iterable[int], *, now: datetime) -> None:
    """Whoever was known before keeps his profile: the provider's silence says nothing about it."""
    due_at = Case(
        *(When(misses=misses, then=Value(now + pause)) for misses, pause in enumerate(UNKNOWN_PAUSES)),
        default=Value(now + UNKNOWN_PAUSES[-1]),
    )
    SocialProfile.objects.filter(fid__in=fids).update(due_at=due_at, misses=F("misses") + 1)
