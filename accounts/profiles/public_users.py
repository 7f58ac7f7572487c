"""Social protocol users as public responses show them, from the stored profiles.

Only stored users are found: launch requestors, and agents' creators and readers. A lookup
fetches and enqueues nothing, so that no caller can have profiles fetched.
"""

from collections.abc import Sequence

from accounts.models import SocialProfile
from accounts.profiles.responses import PublicUser
from accounts.profiles.social_refresh import related_user


def find_user_by_fid(fid: int) -> PublicUser | None:
    """Return the user with a FID; None without a fetched profile. One query."""
    return _public_user(SocialProfile.objects.filter(fid=fid).first())


def find_user_by_address(address: str) -> PublicUser | None:
    """Return the user that has verified an address, in stored form; among several the lowest FID. One query."""
    return _public_user(SocialProfile.objects.verified_by(address).first())


def find_user_by_name(username: str) -> PublicUser | None:
    """Return the user with a name in any case; among several the profile that was fetched last. One query."""
    return _public_user(SocialProfile.objects.named(username).first())


def find_users(fids: Sequence[int]) -> list[PublicUser]:
    """Return the users with these FIDs in the same sequence, each once, without unknown ones. One query."""
    profile_by_fid = SocialProfile.objects.in_bulk(fids)
    users = (_public_user(profile_by_fid.get(fid)) for fid in dict.fromkeys(fids))
    return [user for user in users if user is not None]


def _public_user(profile: SocialProfile | None) -> PublicUser | None:
    """Return `related.user` with the fields that clients read in the provider's user object, without its score.

    None for a profile that was never fetched.
    """
    if profile is None or profile.fetched_at is None:
        return None
    eth = [address for address in profile.verified_addresses if address.startswith("0x")]
    sol = [address for address in profile.verified_addresses if not address.startswith("0x")]
    return {
        **related_user(profile),
        "profile": {"bio": {"text": profile.bio or None}},
        "verifications": eth,
        "verified_addresses": {"eth_addresses": eth, "sol_addresses": sol},
        "fetchedAt": profile.fetched_at,
    }
