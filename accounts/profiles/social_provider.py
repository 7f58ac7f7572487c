"""The social protocol's provider: who stands behind FIDs, from Neynar where a key is set, else from a Farcaster hub."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from django.conf import settings

from accounts.profiles.social_responses import Profile, read_hub_person, read_neynar_user
from config.http.json_client import Permanent, Retryable, StatusRefused, WrongAnswer, get_json, member

# What Neynar takes in one call.
MAX_FIDS = 100
# Neynar's `fid` is an int32, and nobody is registered beyond it.
LARGEST_FID = 2**31 - 1
# A hundred people with all that they could have are a fraction of this.
MAX_BYTES = 8 * 1024 * 1024
# No new call is begun after so long: the task that waits has an end.
PATIENCE_SECONDS = 20.0


@dataclass(frozen=True)
class Found:
    """What a provider knew. Who is neither in `profiles` nor in `unknown` was not answered, for `error` or for time."""

    profiles: dict[int, Profile] = field(default_factory=dict)
    unknown: set[int] = field(default_factory=set)
    error: Retryable | Permanent | None = None


def is_configured() -> bool:
    """Whether there is somebody to ask."""
    return bool(settings.SOCIAL_API_KEY or settings.FARCASTER_HUB_URL)


def find_people(fids: Sequence[int]) -> Found:
    """Ask for up to 100 people. Never raises for what the provider does: half an answer is kept, and the error said."""
    found = Found(unknown={fid for fid in fids if not 0 < fid <= LARGEST_FID})
    askable = [fid for fid in fids if fid not in found.unknown]
    try:
        (_ask_neynar if settings.SOCIAL_API_KEY else _ask_hub)(askable, found)
    except (Retryable, Permanent) as error:
        return replace(found, error=error)
    return found


def fetch_users(fids: Sequence[int]) -> dict[int, Profile]:
    """One call of Neynar's bulk look-up for at most 100 FIDs; who is unknown is absent. Raises Retryable, Permanent.

    https://docs.neynar.com/reference/fetch-bulk-users
    """
    answer = get_json(
        f"{settings.SOCIAL_BASE_URL}/v2/farcaster/user/bulk/",
        params={"fids": ",".join(map(str, fids))},
        headers={"x-api-key": settings.SOCIAL_API_KEY},
        timeout=settings.SOCIAL_TIMEOUT_SECONDS,
        max_bytes=MAX_BYTES,
    )
    users = member(answer, "users")
    if not isinstance(users, list):
        raise WrongAnswer("an answer without a list of users")
    profiles = [profile for user in users if (profile := read_neynar_user(user))]
    if users and not profiles:
        raise WrongAnswer("a list of users without one that can be read")
    return {profile.fid: profile for profile in profiles if profile.fid in fids}


def fetch_person(fid: int) -> Profile | None:
    """Two calls of a hub, for data and for verified addresses; None where it knows nobody. Raises as `fetch_users`.

    https://docs.neynar.com/snapchain/httpapi/userdata and .../verification
    """
    user_data = _fetch_messages("userDataByFid", fid)
    if not user_data:
        return None
    verifications = _fetch_messages("verificationsByFid", fid)
    return read_hub_person(fid, user_data=user_data, verifications=verifications)


def _fetch_messages(call: str, fid: int) -> list[object]:
    answer = get_json(
        f"{settings.FARCASTER_HUB_URL}/v1/{call}",
        params={"fid": str(fid)},
        timeout=settings.SOCIAL_TIMEOUT_SECONDS,
        max_bytes=MAX_BYTES,
    )
    messages = member(answer, "messages")
    if not isinstance(messages, list):
        raise WrongAnswer("an answer without a list of messages")
    return messages


def _ask_neynar(fids: Sequence[int], found: Found) -> None:
    """Ask for all at once. A call that is refused for one of its FIDs is made again in halves, until that one is alone.

    Launchers write FIDs themselves; a single bad one must not hold up the others for ever.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    waiting = [tuple(fids)] if fids else []
    refused: set[int] = set()
    refusal: StatusRefused | None = None
    while waiting and time.monotonic() < deadline:
        part = waiting.pop()
        try:
            profiles = fetch_users(part)
        except StatusRefused as error:
            if error.status not in (400, 404):
                raise
            refusal = error
            if len(part) == 1:
                refused.update(part)
            else:
                waiting += [part[len(part) // 2 :], part[: len(part) // 2]]
            continue
        found.profiles.update(profiles)
        found.unknown.update(set(part) - set(profiles))
    if refusal and len(refused) == len(fids):
        # Not one was taken: it isn't the FIDs.
        raise refusal
    found.unknown.update(refused)


def _ask_hub(fids: Sequence[int], found: Found) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    for fid in fids:
        if time.monotonic() > deadline:
            return
        profile = fetch_person(fid)
        if profile is None:
            found.unknown.add(fid)
        else:
            found.profiles[fid] = profile
