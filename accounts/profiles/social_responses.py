"""Parsers for the social providers' responses into one type. Pure functions over untrusted input."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from accounts.models.profiles import MAX_FID
from config.http.json_client import Json, json_integer, json_list, json_member
from tokens.chains.addresses import parse_address

# ENS names are the longest user names.
MAX_NAME = 255
MAX_BIO = 2_000
MAX_URL = 2_000
MAX_ADDRESSES = 50

_SURROGATES = re.compile("[\ud800-\udfff]")
_NO_URL = re.compile(r"[\s\x00-\x1f\x7f\"<>\\]")


@dataclass(frozen=True)
class Profile:
    """A user's profile at one moment. Unknown text is empty; addresses are EIP-55 or base58, EVM before Solana."""

    fid: int
    username: str = ""
    display_name: str = ""
    # http or https, or empty.
    pfp_url: str = ""
    bio: str = ""
    verified_addresses: tuple[str, ...] = ()
    # The provider's trust score from 0 to 1; None if it has none.
    score: float | None = None


def parse_neynar_user(user: Json) -> Profile | None:
    """Parse a `User` in Neynar's v2; None without a valid FID. Fields with undocumented types count as unknown.

    https://docs.neynar.com/reference/fetch-bulk-users
    """
    fid = parse_fid(json_member(user, "fid"))
    if fid is None:
        return None
    verified = json_member(user, "verified_addresses")
    primary = json_member(verified, "primary")
    eth = json_list(json_member(verified, "eth_addresses")) or json_list(json_member(user, "verifications"))
    return Profile(
        fid=fid,
        username=_text(json_member(user, "username"), MAX_NAME),
        display_name=_text(json_member(user, "display_name"), MAX_NAME),
        pfp_url=_url(json_member(user, "pfp_url")),
        bio=_text(json_member(json_member(json_member(user, "profile"), "bio"), "text"), MAX_BIO),
        verified_addresses=_addresses(
            [
                *_chosen_first(eth, json_member(primary, "eth_address")),
                *_chosen_first(json_list(json_member(verified, "sol_addresses")), json_member(primary, "sol_address")),
            ]
        ),
        score=_score(json_member(user, "score")),
    )


def parse_hub_profile(fid: int, *, user_data: Json, verifications: Json) -> Profile | None:
    """Parse the `messages` from a hub's userDataByFid and verificationsByFid; None without user data.

    https://docs.neynar.com/snapchain/httpapi/userdata and .../verification
    """
    values: dict[str, Json] = {}
    for data in _messages(fid, user_data):
        body = json_member(data, "userDataBody")
        kind = json_member(body, "type")
        if isinstance(kind, str):
            values[kind] = json_member(body, "value")
    if not values:
        return None
    # Older hubs use the field name from before other chains were supported.
    bodies = (
        json_member(data, "verificationAddAddressBody") or json_member(data, "verificationAddEthAddressBody")
        for data in _messages(fid, verifications)
    )
    return Profile(
        fid=fid,
        username=_text(values.get("USER_DATA_TYPE_USERNAME"), MAX_NAME),
        display_name=_text(values.get("USER_DATA_TYPE_DISPLAY"), MAX_NAME),
        pfp_url=_url(values.get("USER_DATA_TYPE_PFP")),
        bio=_text(values.get("USER_DATA_TYPE_BIO"), MAX_BIO),
        verified_addresses=_addresses(json_member(body, "address") for body in bodies),
    )


def _messages(fid: int, messages: Json) -> list[Json]:
    """Return the messages' `data` with this FID, oldest first, so that the newest wins."""
    contents = [json_member(message, "data") for message in json_list(messages)]
    return sorted((data for data in contents if parse_fid(json_member(data, "fid")) == fid), key=_age)


def _age(data: Json) -> int:
    return json_integer(json_member(data, "timestamp"), least=0, most=2**63) or 0


def parse_fid(value: Json) -> int | None:
    """Return a valid FID, or None."""
    return json_integer(value, least=1, most=MAX_FID)


def _text(value: Json, limit: int) -> str:
    """Return the text without NUL and lone surrogates, which PostgreSQL or the renderer reject."""
    return _SURROGATES.sub("\ufffd", value.replace("\0", "")).strip()[:limit] if isinstance(value, str) else ""


def _url(value: Json) -> str:
    """Return a URL that a browser may load as an image; empty for anything else, also if overlong."""
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


def _chosen_first(addresses: list[Json], primary: Json) -> list[Json]:
    """Return the addresses with the user's primary address first, if it is among them."""
    return [primary, *addresses] if isinstance(primary, str) and primary in addresses else addresses


def _addresses(values: Iterable[Json]) -> tuple[str, ...]:
    """Return the distinct addresses, EVM before Solana."""
    addresses = dict.fromkeys(address for value in values if (address := _address(value)))
    return tuple(sorted(addresses, key=lambda address: not address.startswith("0x")))[:MAX_ADDRESSES]


def _address(value: Json) -> str | None:
    try:
        return parse_address(value, allow_mint=True) if isinstance(value, str) else None
    except ValueError:
        return None
