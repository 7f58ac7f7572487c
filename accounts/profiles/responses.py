"""Users of the social protocol in responses."""

from datetime import datetime
from typing import Annotated, TypedDict


class RelatedUser(TypedDict):
    """The user who requested the launch, from the social protocol."""

    fid: int
    username: str | None
    displayName: str | None
    display_name: Annotated[str | None, "Same as displayName."]
    pfpUrl: Annotated[str | None, "Picture, http or https."]
    pfp_url: Annotated[str | None, "Same as pfpUrl."]
    bio: str | None
    verifiedAddresses: Annotated[list[str], "Addresses that the user has proven to own, EIP-55 before base58."]


class ProfileBio(TypedDict):
    """Text about the user."""

    text: str | None


class ProfileAbout(TypedDict):
    """Same as bio, where the social protocol's provider has it."""

    bio: ProfileBio


class VerifiedAddresses(TypedDict):
    """Same as verifiedAddresses, by kind of chain."""

    eth_addresses: list[str]
    sol_addresses: list[str]


class PublicUser(RelatedUser):
    """A user of the social protocol, as last fetched from its provider; unknown texts are null."""

    profile: ProfileAbout
    verifications: Annotated[list[str], "The verified EVM addresses."]
    verified_addresses: VerifiedAddresses
    fetchedAt: Annotated[datetime, "Time of the provider's response."]


class PublicUsers(TypedDict):
    users: list[PublicUser]
