"""Deployers' profiles: enqueued when a token is indexed, fetched by a task, joined to token records.

The rows are a leased queue (`config.postgresql.leased_queue`).
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Case, Value, When
from django.utils import timezone

from accounts.models import SocialProfile
from accounts.profiles import social_provider
from accounts.profiles.responses import RelatedUser
from accounts.profiles.social_responses import Profile
from config.postgresql.leased_queue import LeasedQuerySet
from config.redis.connection import PREFIX
from config.redis.shared_circuit_breaker import SharedCircuitBreaker

BATCH = social_provider.MAX_FIDS
# Longer than a task may run.
LEASE = timedelta(seconds=300)
# Retry delays for FIDs unknown to the provider, which may be new to it. The last one repeats.
UNKNOWN_RETRY_DELAYS = (timedelta(hours=1), timedelta(days=1), timedelta(weeks=1), timedelta(days=30))

# Open after an error: no requests are sent.
CIRCUIT_BREAKER = SharedCircuitBreaker(service="the social provider", key=f"{PREFIX}social:paused")
_PROFILE_FIELDS = ("username", "display_name", "pfp_url", "bio", "verified_addresses", "score")


def refresh_due_profiles() -> int:
    """Fetch up to 100 due profiles, and return how many FIDs got a response.

    FIDs unknown to the provider are retried with growing delays. After an error the circuit breaker opens, and FIDs
    without a response are due again when it closes, behind the others.
    """
    if CIRCUIT_BREAKER.is_open():
        return 0
    rows = SocialProfile.objects.claim(timezone.now(), lease=LEASE, count=BATCH)
    if not rows:
        return 0
    fids = [row.fid for row in rows]
    lookup = social_provider.fetch_profiles(fids)
    pause = CIRCUIT_BREAKER.record_failure(lookup.error) if lookup.error else timedelta(0)
    now = timezone.now()
    unanswered = set(fids) - set(lookup.profiles) - lookup.unknown
    with transaction.atomic():
        claimed = SocialProfile.objects.held(rows)
        _store_profiles(claimed, lookup.profiles, now=now)
        _defer_unknown(claimed.filter(fid__in=lookup.unknown), now=now)
        claimed.filter(fid__in=unanswered).release(due_at=now + pause)
    return len(fids) - len(unanswered)


def users_by_fid(fids: Iterable[int | None]) -> dict[int, RelatedUser]:
    """Return FID -> `related.user` in a token record, with one query; profiles never fetched are absent."""
    profiles = SocialProfile.objects.fetched().filter(fid__in={fid for fid in fids if fid is not None})
    return {profile.fid: related_user(profile) for profile in profiles}


def related_user(profile: SocialProfile) -> RelatedUser:
    """Return `related.user` in a token record; unknown texts are None."""
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


def _store_profiles(claimed: LeasedQuerySet[SocialProfile], profiles: Mapping[int, Profile], *, now: datetime) -> None:
    rows = list(claimed.filter(fid__in=profiles).select_for_update().order_by("fid"))
    for row in rows:
        for name in _PROFILE_FIELDS:
            setattr(row, name, getattr(profiles[row.fid], name))
        row.verified_addresses, row.fetched_at = list(row.verified_addresses), now
    SocialProfile.objects.bulk_update(rows, [*_PROFILE_FIELDS, "fetched_at"])
    claimed.filter(fid__in=profiles).requeue(due_at=now + timedelta(hours=settings.SOCIAL_REFRESH_HOURS))


def _defer_unknown(claimed: LeasedQuerySet[SocialProfile], *, now: datetime) -> None:
    """Delay the retry for FIDs unknown to the provider. A profile fetched earlier is kept."""
    due_at = Case(
        *(When(attempts=attempts, then=Value(now + delay)) for attempts, delay in enumerate(UNKNOWN_RETRY_DELAYS)),
        default=Value(now + UNKNOWN_RETRY_DELAYS[-1]),
    )
    claimed.fail("unknown to the provider", due_at=due_at)
