"""People as the social providers tell of them, brought into one shape. Pure, and nothing that comes in is believed."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from config.api.fields import parse_address

# Names of ENS are the longest that people carry.
MAX_NAME = 255
MAX_BIO = 2_000
MAX_URL = 2_000
MAX_ADDRESSES = 50
# PostgreSQL's bigint.
MAX_FID = 2**63 - 1

_SURROGATES = re.compile("[\ud800-\udfff]")
_NO_URL = re.compile(r"[\s\x00-\x1f\x7f\"<>\\]")

Json = Any


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
    fid = _fid(_get(user, "fid"))
    if fid is None:
        return None
    verified = _get(user, "verified_addresses")
    primary = _get(verified, "primary")
    eth = _list(_get(verified, "eth_addresses")) or _list(_get(user, "verifications"))
    return Profile(
        fid=fid,
        username=_text(_get(user, "username"), MAX_NAME),
        display_name=_text(_get(user, "display_name"), MAX_NAME),
        pfp_url=_url(_get(user, "pfp_url")),
        bio=_text(_get(_get(_get(user, "profile"), "bio"), "text"), MAX_BIO),
        verified_addresses=_addresses(
            [
                *_chosen_first(eth, _get(primary, "eth_address")),
                *_chosen_first(_list(_get(verified, "sol_addresses")), _get(primary, "sol_address")),
            ]
        ),
        score=_score(_get(user, "score")),
    )


def read_hub_person(fid: int, *, user_data: Json, verifications: Json) -> Profile | None:
    """A person from the `messages` of a hub's userDataByFid and verificationsByFid; None where there is no user data.

    https://docs.neynar.com/snapchain/httpapi/userdata and .../verification
    """
    said: dict[str, Json] = {}
    for data in _messages(fid, user_data):
        body = _get(data, "userDataBody")
        kind = _get(body, "type")
        if isinstance(kind, str):
            said[kind] = _get(body, "value")
    if not said:
        return None
    # Older hubs know the body by the name it had when there were no other chains.
    bodies = (
        _get(data, "verificationAddAddressBody") or _get(data, "verificationAddEthAddressBody")
        for data in _messages(fid, verifications)
    )
    return Profile(
        fid=fid,
        username=_text(said.get("USER_DATA_TYPE_USERNAME"), MAX_NAME),
        display_name=_text(said.get("USER_DATA_TYPE_DISPLAY"), MAX_NAME),
        pfp_url=_url(said.get("USER_DATA_TYPE_PFP")),
        bio=_text(said.get("USER_DATA_TYPE_BIO"), MAX_BIO),
        verified_addresses=_addresses(_get(body, "address") for body in bodies),
    )


def _messages(fid: int, messages: Json) -> list[Json]:
    """The `data` of the messages that are this person's, the oldest first: of two, the newer is meant to hold."""
    found = [_get(message, "data") for message in _list(messages)]
    return sorted((data for data in found if _fid(_get(data, "fid")) == fid), key=_age)


def _age(data: Json) -> int:
    timestamp = _get(data, "timestamp")
    return timestamp if type(timestamp) is int else 0


def _get(value: Json, name: str) -> Json:
    return value.get(name) if isinstance(value, dict) else None


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _fid(value: Json) -> int | None:
    # A boolean is an int to Python.
    return value if type(value) is int and 0 < value <= MAX_FID else None


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
