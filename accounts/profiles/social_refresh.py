"""Profiles of deployers: enqueued when a token is indexed, fetched by a task, joined to token records.

The rows are the queue: each has a due time. A worker claims rows for one lease, so that no FID is fetched twice at once
and a killed worker loses none.
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
from config.redis.connection import PREFIX
from config.redis.shared_circuit_breaker import SharedCircuitBreaker

BATCH = social_provider.MAX_FIDS
# Longer than a task may run.
LEASE_SECONDS = 300
# Retry delays for FIDs unknown to the provider, which may be new to it. The last one repeats.
UNKNOWN_RETRY_DELAYS = (timedelta(hours=1), timedelta(days=1), timedelta(weeks=1), timedelta(days=30))

# Open after an error: no requests are sent.
CIRCUIT_BREAKER = SharedCircuitBreaker(service="the social provider", key=f"{PREFIX}social:paused")
# There may be thousands of FIDs: one array costs a small part of as many ORM rows.
_ENQUEUE = """
INSERT INTO accounts_socialprofile
    (fid, username, display_name, pfp_url, bio, verified_addresses, due_at, misses)
SELECT fid, '', '', '', '', '{}', %s, 0 FROM unnest(%s::bigint[]) AS fid
ON CONFLICT DO NOTHING
"""
_PROFILE_FIELDS = ("username", "display_name", "pfp_url", "bio", "verified_addresses", "score")


def enqueue_profiles(fids: Iterable[int]) -> None:
    """Enqueue unknown FIDs for fetching; known ones stay unchanged."""
    # Sorted, so that concurrent calls for the same FIDs don't deadlock.
    wanted = [fid for fid in sorted(set(fids)) if 0 < fid <= MAX_FID]
    if wanted:
        with connection.cursor() as cursor:
            cursor.execute(_ENQUEUE, [timezone.now(), wanted])


def refresh_due_profiles() -> int:
    """Fetch up to 100 due profiles, and return how many FIDs got a response.

    FIDs unknown to the provider are retried with growing delays. After an error the circuit breaker opens, and FIDs
    without a response are due again when it closes, behind the others.
    """
    if CIRCUIT_BREAKER.is_open():
        return 0
    fids = claim_due(timezone.now())
    if not fids:
        return 0
    found = social_provider.fetch_profiles(fids)
    pause = CIRCUIT_BREAKER.record_failure(found.error) if found.error else timedelta(0)
    now = timezone.now()
    with transaction.atomic():
        _store_profiles(found.profiles.values(), now=now)
        _defer_unknown(found.unknown, now=now)
        left = set(fids) - set(found.profiles) - found.unknown
        SocialProfile.objects.filter(fid__in=left).update(due_at=now + pause)
    return len(fids) - len(left)


def claim_due(now: datetime) -> list[int]:
    """Claim due FIDs for one lease and return them: never fetched ones before known ones."""
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
    """Return FID -> `related.user` of a token record, in one query; profiles never fetched are absent."""
    known = SocialProfile.objects.filter(fid__in={fid for fid in fids if fid is not None}, fetched_at__isnull=False)
    return {profile.fid: _related_user(profile) for profile in known}


def _related_user(profile: SocialProfile) -> dict[str, Any]:
    # Older clients read the snake-case fields.
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


def _store_profiles(profiles: Iterable[Profile], *, now: datetime) -> None:
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
        update_fields=[*_PROFILE_FIELDS, "fetched_at", "due_at", "misses"],
    )


def _defer_unknown(fids: Iterable[int], *, now: datetime) -> None:
    """Delay the retry of FIDs unknown to the provider. A profile fetched earlier is kept."""
    due_at = Case(
        *(When(misses=misses, then=Value(now + pause)) for misses, pause in enumerate(UNKNOWN_RETRY_DELAYS)),
        default=Value(now + UNKNOWN_RETRY_DELAYS[-1]),
    )
    SocialProfile.objects.filter(fid__in=fids).update(due_at=due_at, misses=F("misses") + 1)
