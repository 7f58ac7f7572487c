"""What launchers write into a token's metadata and context: any text, usually JSON. Pure."""

import hashlib
import json
import math
import re
from typing import Any
from urllib.parse import urlsplit

import orjson

from config.unicode import normal_form

# Nobody describes a token in more; a longer text is cut so that no row can grow without limit.
MAX_TEXT = 10_000
MAX_LINKS = 50
# Every answer that lists a token carries its context; a longer one says nothing.
MAX_JSON_TEXT = 50_000
# The parser calls itself for every bracket. Some packages raise Python's recursion limit when they are imported, and a
# text of brackets then runs off the end of the stack, which kills the process.
_MAX_BRACKETS = 1_000
# A context is passed on as it is nested, down to here; what lies deeper becomes null.
MAX_DEPTH = 20
# The largest whole number that every JSON client reads exactly.
LARGEST_JSON_NUMBER = 2**53 - 1
_SURROGATES = re.compile("[\ud800-\udfff]")
# The beginning of a number that is long or has an exponent.
_LONG_NUMBER = re.compile(r"[:,\[\s]-?(?:[0-9.]{16}|[0-9.]+[eE])")
# PostgreSQL's bigint.
_MAX_FID = 2**63 - 1
# What launchers call an address of which they say no more.
_WEBSITE = "website"
# Whose page it is, whatever the launcher calls it.
_PLATFORMS = {
    "x.com": "x",
    "twitter.com": "twitter",
    "farcaster.xyz": "farcaster",
    "warpcast.com": "warpcast",
    "t.me": "telegram",
    "telegram.me": "telegram",
}
# What browsers run when somebody clicks on it; they pass over blanks.
_RUNNING_SCHEMES = ("javascript:", "data:", "vbscript:")
_BLANKS = re.compile(r"[\x00-\x20]")

Json = dict[str, Any]


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def parse_metadata(text: str | None) -> Json:
    """The record's `metadata`: {"auditUrls": [str], "description": str | None, "socialMediaUrls": [{platform, url}]}.

    A text that is no JSON object is what the launcher had to say, and becomes the description.
    """
    raw = _parse_object(text)
    if raw is None:
        return {"auditUrls": [], "description": _text(text), "socialMediaUrls": []}
    return clean_metadata(raw)


def clean_metadata(raw: Json) -> Json:
    """The same of an object that PostgreSQL can keep. What is of another type than expected is left out."""
    return {
        "auditUrls": [url for url in map(_text, _list(raw.get("auditUrls"))) if url],
        "description": _text(raw.get("description")),
        "socialMediaUrls": [link for link in map(_link, _list(raw.get("socialMediaUrls"))) if link],
    }


def parse_context(text: str | None) -> Json:
    """The record's `social_context`: the four known keys as text or None, and whatever else the launcher put there.

    Nobody vouches for a context: anyone may write any platform and id into it.
    """
    raw = _parse_object(text) or {}
    known = {key: _text(raw.get(key)) for key in ("interface", "platform", "messageId", "id")}
    return raw | known


def farcaster_fid(context: Json) -> int | None:
    """The FID that a context names as the requestor, where its platform is Farcaster."""
    identity = context["id"] or ""
    if (context["platform"] or "").lower() != "farcaster" or not re.fullmatch(r"[0-9]{1,19}", identity, re.ASCII):
        return None
    fid = int(identity)
    return fid if 0 < fid <= _MAX_FID else None


def social_links(metadata: Json) -> list[dict[str, str]]:
    """The record's `socialLinks`, from parsed metadata."""
    return [{"name": link["platform"], "link": link["url"]} for link in _safe_links(metadata)]


def find_link(metadata: Json, *platforms: str) -> str | None:
    """The first social address of one of the platforms (lower case), from parsed metadata."""
    for link in _safe_links(metadata):
        if _platform(link) in platforms:
            return str(link["url"])
    return None


def _safe_links(metadata: Json) -> list[Json]:
    """Without those that run something: whoever gets links puts them onto pages, where browsers skip blanks."""
    return [link for link in metadata["socialMediaUrls"] if not runs_something(link["url"])]


def runs_something(url: str) -> bool:
    """Whether a browser runs it, or may, when somebody clicks on it."""
    return _BLANKS.sub("", url).lower().startswith(_RUNNING_SCHEMES)


def copy_key(name: str, symbol: str) -> str:
    """SHA-256 in hex of name and symbol without case and blanks; two tokens with the same key look alike.

    A digest because names have any length, and an entry of an index has not.
    """
    normal = "\n".join("".join(normal_form(part).casefold().split()) for part in (name, symbol))
    return hashlib.sha256(normal.encode()).hexdigest()


def cut_text(text: str | None, limit: int = MAX_TEXT) -> str:
    """The text up to a limit of characters; the empty string for None."""
    return (text or "")[:limit]


def storable(value: Any, depth: int = MAX_DEPTH) -> Any:
    """The same JSON without what PostgreSQL's jsonb or our renderer refuse.

    These are NUL and lone surrogates in texts, numbers beyond their range, and nesting without end.
    """
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value.replace("\0", ""))
    if isinstance(value, float) and not math.isfinite(value):
        return None
    # Floats, too: jsonb gives 1e20 back as a whole number.
    if isinstance(value, int | float) and abs(value) > LARGEST_JSON_NUMBER:
        return str(value)
    if isinstance(value, list | dict) and not depth:
        return None
    if isinstance(value, list):
        return [storable(part, depth - 1) for part in value]
    if isinstance(value, dict):
        return {storable(key, depth): storable(part, depth - 1) for key, part in value.items()}
    return value


def _parse_object(text: str | None) -> Json | None:
    if not text or len(text) > MAX_JSON_TEXT:
        return None
    brackets = text.count("[") + text.count("{")
    if brackets > _MAX_BRACKETS:
        return None
    is_plain = brackets <= MAX_DEPTH and _is_plain(text)
    try:
        value = orjson.loads(text) if is_plain else _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    return value if is_plain else storable(value)


def _is_plain(text: str) -> bool:
    """Whether JSON certainly has nothing that PostgreSQL or our clients refuse: then it is read much faster."""
    if "\\u" in text or _LONG_NUMBER.search(text):
        return False
    return text.isascii() or not _SURROGATES.search(text)


def _text(value: Any) -> str | None:
    """Text of a JSON scalar, None for nothing, objects and lists."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value)[:MAX_TEXT] or None


def _list(value: Any) -> list[Any]:
    return value[:MAX_LINKS] if isinstance(value, list) else []


def _platform(link: dict[str, str]) -> str:
    """What the launcher calls it, in lower case; a mere website goes by its host, since many give bare addresses."""
    named = link["platform"].lower()
    if named not in (_WEBSITE, "web"):
        return named
    try:
        host = urlsplit(link["url"]).hostname or ""
    except ValueError:
        return named
    return _PLATFORMS.get(host.removeprefix("www."), named)


def _link(value: Any) -> dict[str, str] | None:
    """A social link; launchers write objects or bare addresses."""
    if isinstance(value, str) and value:
        return {"platform": _WEBSITE, "url": value[:MAX_TEXT]}
    if not isinstance(value, dict):
        return None
    url = _text(value.get("url"))
    return {"platform": _text(value.get("platform")) or _WEBSITE, "url": url} if url else None
