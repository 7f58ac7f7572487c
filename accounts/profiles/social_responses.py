"""People as the social providers tell of them, brought into one shape. Pure, and nothing that comes in is believed."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from config.api.fields import parse_address
from config.http.json_client import Json, items, member, whole_number

# Names of ENS are the longest that people carry.
MAX_NAME = 255
MAX_BIO = 2_000
MAX_URL = 2_000
MAX_ADDRESSES = 50
# PostgreSQL's bigint.
MAX_FID = 2**63 - 1

_SURROGATES = re.compile("[\ud800-\udfff]")
_NO_URL = re.compile(r"[\s\x00-\x1f\x7f\"<>\\]")


@dataclass(frozen=True)
class Profile:
    """A person at one moment. Unknown text is empty; addresses are EIP-55 or base58, EVM before Solana."""

    fid: int
    username: str = ""
    display_name: str = ""
    # http or https, or empty.
    pfp_url: str = ""
    bio: str = ""
    verified_addresses: tuple[str, ...] = ()
    # The provider's trust from 0 to 1; None where it tells none.
    score: float | None = None


def read_neynar_user(user: Json) -> Profile | None:
    """A `User` of Neynar's v2; None where it has no FID. What else has another type than documented counts as unknown.

    https://docs.neynar.com/reference/fetch-bulk-users
    """
    fid = read_fid(member(user, "fid"))
    if fid is None:
        return None
    verified = member(user, "verified_addresses")
    primary = member(verified, "primary")
    eth = items(member(verified, "eth_addresses")) or items(member(user, "verifications"))
    return Profile(
        fid=fid,
        username=_text(member(user, "username"), MAX_NAME),
        display_name=_text(member(user, "display_name"), MAX_NAME),
        pfp_url=_url(member(user, "pfp_url")),
        bio=_text(member(member(member(user, "profile"), "bio"), "text"), MAX_BIO),
        verified_addresses=_addresses(
            [
                *_chosen_first(eth, member(primary, "eth_address")),
                *_chosen_first(items(member(verified, "sol_addresses")), member(primary, "sol_address")),
            ]
        ),
        score=_score(member(user, "score")),
    )


def read_hub_person(fid: int, *, user_data: Json, verifications: Json) -> Profile | None:
    """A person from the `messages` of a hub's userDataByFid and verificationsByFid; None where there is no user data.

    https://docs.neynar.com/snapchain/httpapi/userdata and .../verification
    """
    said: dict[str, Json] = {}
    for data in _messages(fid, user_data):
        body = member(data, "userDataBody")
        kind = member(body, "type")
        if isinstance(kind, str):
            said[kind] = member(body, "value")
    if not said:
        return None
    # Older hubs know the body by the name it had when there were no other chains.
    bodies = (
        member(data, "verificationAddAddressBody") or member(data, "verificationAddEthAddressBody")
        for data in _messages(fid, verifications)
    )
    return Profile(
        fid=fid,
        username=_text(said.get("USER_DATA_TYPE_USERNAME"), MAX_NAME),
        display_name=_text(said.get("USER_DATA_TYPE_DISPLAY"), MAX_NAME),
        pfp_url=_url(said.get("USER_DATA_TYPE_PFP")),
        bio=_text(said.get("USER_DATA_TYPE_BIO"), MAX_BIO),
        verified_addresses=_addresses(member(body, "address") for body in bodies),
    )


def _messages(fid: int, messages: Json) -> list[Json]:
    """The `data` of the messages that are this person's, the oldest first: of two, the newer is meant to hold."""
    found = [member(message, "data") for message in items(messages)]
    return sorted((data for data in found if read_fid(member(data, "fid")) == fid), key=_age)


def _age(data: Json) -> int:
    return whole_number(member(data, "timestamp"), least=0, most=2**63) or 0


def read_fid(value: Json) -> int | None:
    """A FID; None for anything else."""
    return whole_number(value, least=1, most=MAX_FID)


def _text(value: Json, limit: int) -> str:
    """Without what PostgreSQL or our renderer refuse: NUL, and halves of characters."""
    return _SURROGATES.sub("\ufffd", value.replace("\0", "")).strip()[:limit] if isinstance(value, str) else ""


def _url(value: Json) -> str:
    """An address that a browser may load as an image; anything else is left out, a cut one too."""
    if not isinstance(value, str) or len(value) > MAX_URL or _NO_URL.search(value) or _SURROGATES.search(value):
        return ""
    try:
        parts = urlsplit(value)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        usable = False
    return value if usable else ""


def _score(value: Json) -> float | None:
    # NaN and infinity fail the comparison.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return float(value) if math.isfinite(value) else None


def _chosen_first(addresses: list[Json], chosen: Json) -> list[Json]:
    """The address that the person chose as the primary one before the others, if it is among them."""
    return [chosen, *addresses] if isinstance(chosen, str) and chosen in addresses else addresses


def _addresses(values: Iterable[Json]) -> tuple[str, ...]:
    """Each once, those of EVM chains first."""
    found = dict.fromkeys(address for value in values if (address := _address(value)))
    return tuple(sorted(found, key=lambda address: not address.startswith("0x")))[:MAX_ADDRESSES]


def _address(value: Json) -> str | None:
    try:
        return parse_address(value, allow_mint=True) if isinstance(value, str) else None
    except ValueError:
        return None
