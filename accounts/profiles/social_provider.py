"""Client for the social protocol's provider: Neynar if a key is set, else a Farcaster hub."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from django.conf import settings

from accounts.profiles.social_responses import Profile, parse_hub_profile, parse_neynar_user
from config.http.errors import HTTPStatusError, InvalidResponseError, PermanentError, RetryableError
from config.http.json_client import get_json, json_member

# Neynar's limit per request.
MAX_FIDS = 100
# Neynar's `fid` is an int32, and no higher FID is registered.
LARGEST_FID = 2**31 - 1
# A hundred complete profiles are far smaller.
MAX_BYTES = 8 * 1024 * 1024
# No request is started after this time, so that the task ends.
LOOKUP_TIMEOUT_SECONDS = 20.0


@dataclass(frozen=True)
class ProfileLookup:
    """Result of a lookup. FIDs in neither `profiles` nor `unknown` got no response: see `error`, or time ran out."""

    profiles: dict[int, Profile] = field(default_factory=dict)
    unknown: set[int] = field(default_factory=set)
    error: RetryableError | PermanentError | None = None


def is_configured() -> bool:
    """Return whether a provider is configured."""
    return bool(settings.SOCIAL_API_KEY or settings.FARCASTER_HUB_URL)


def fetch_profiles(fids: Sequence[int]) -> ProfileLookup:
    """Fetch up to 100 profiles. Provider errors don't raise: partial results are kept, with the error beside them."""
    lookup = ProfileLookup(unknown={fid for fid in fids if not 0 < fid <= LARGEST_FID})
    possible = [fid for fid in fids if fid not in lookup.unknown]
    try:
        (_fetch_all_from_neynar if settings.SOCIAL_API_KEY else _fetch_all_from_hub)(possible, lookup)
    except (RetryableError, PermanentError) as error:
        return replace(lookup, error=error)
    return lookup


def fetch_neynar_profiles(fids: Sequence[int]) -> dict[int, Profile]:
    """Fetch up to 100 profiles by Neynar's bulk lookup; unknown FIDs are absent.

    Raises RetryableError and PermanentError. https://docs.neynar.com/reference/fetch-bulk-users
    """
    body = get_json(
        f"{settings.SOCIAL_BASE_URL}/v2/farcaster/user/bulk/",
        params={"fids": ",".join(map(str, fids))},
        headers={"x-api-key": settings.SOCIAL_API_KEY},
        timeout=settings.SOCIAL_TIMEOUT_SECONDS,
        max_bytes=MAX_BYTES,
    )
    users = json_member(body, "users")
    if not isinstance(users, list):
        raise InvalidResponseError("response without a list of users")
    profiles = [profile for user in users if (profile := parse_neynar_user(user))]
    if users and not profiles:
        raise InvalidResponseError("list of users without a valid one")
    return {profile.fid: profile for profile in profiles if profile.fid in fids}


def fetch_hub_profile(fid: int) -> Profile | None:
    """Fetch a profile by two requests to a hub, user data and verified addresses; None if the FID is unknown.

    Raises RetryableError and PermanentError. https://docs.neynar.com/snapchain/httpapi/userdata and .../verification
    """
    user_data = _fetch_messages("userDataByFid", fid)
    if not user_data:
        return None
    verifications = _fetch_messages("verificationsByFid", fid)
    return parse_hub_profile(fid, user_data=user_data, verifications=verifications)


def _fetch_messages(call: str, fid: int) -> list[object]:
    body = get_json(
        f"{settings.FARCASTER_HUB_URL}/v1/{call}",
        params={"fid": str(fid)},
        timeout=settings.SOCIAL_TIMEOUT_SECONDS,
        max_bytes=MAX_BYTES,
    )
    messages = json_member(body, "messages")
    if not isinstance(messages, list):
        raise InvalidResponseError("response without a list of messages")
    return messages


def _fetch_all_from_neynar(fids: Sequence[int], lookup: ProfileLookup) -> None:
    """Fetch all FIDs in one request. Split a rejected request in halves until the invalid FID is isolated.

    Launch transactions contain unverified FIDs; a single invalid one must not block the others forever.
    """
    deadline = time.monotonic() + LOOKUP_TIMEOUT_SECONDS
    batches = [tuple(fids)] if fids else []
    refused_fids: set[int] = set()
    refusal: HTTPStatusError | None = None
    while batches and time.monotonic() < deadline:
        batch = batches.pop()
        try:
            profiles = fetch_neynar_profiles(batch)
        except HTTPStatusError as error:
            if error.status not in (400, 404):
                raise
            refusal = error
            if len(batch) == 1:
                refused_fids.update(batch)
            else:
                batches += [batch[len(batch) // 2 :], batch[: len(batch) // 2]]
            continue
        lookup.profiles.update(profiles)
        lookup.unknown.update(set(batch) - set(profiles))
    if refusal and len(refused_fids) == len(fids):
        # Every FID was rejected, so the FIDs are not the cause.
        raise refusal
    lookup.unknown.update(refused_fids)


def _fetch_all_from_hub(fids: Sequence[int], lookup: ProfileLookup) -> None:
    deadline = time.monotonic() + LOOKUP_TIMEOUT_SECONDS
    for fid in fids:
        if time.monotonic() > deadline:
            return
        profile = fetch_hub_profile(fid)
        if profile is None:
            lookup.unknown.add(fid)
        else:
            lookup.profiles[fid] = profile
