"""Parsing of on-chain metadata and context, which launchers write: arbitrary text, usually JSON. Pure."""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, TypedDict
from urllib.parse import urlsplit

import orjson

from config.parsing.json_rules import LARGEST_JSON_NUMBER, Component
from config.parsing.response_types import properties_schema
from config.parsing.unicode import normalize_text

# Longer texts are cut, so that no row grows without limit.
MAX_TEXT = 10_000
MAX_LINKS = 50
# Every response that lists a token contains its context. A longer one is ignored.
MAX_JSON_TEXT = 50_000
# The JSON parser recurses for every bracket. Some packages raise Python's recursion limit on import; a long run of
# brackets would then overflow the stack, which kills the process.
_MAX_BRACKETS = 1_000
# A context keeps its nesting down to this depth; deeper values become null.
MAX_DEPTH = 20
_SURROGATES = re.compile("[\ud800-\udfff]")
# The beginning of a long number, or of one with an exponent.
_LONG_NUMBER = re.compile(r"[:,\[\s]-?(?:[0-9.]{16}|[0-9.]+[eE])")
# PostgreSQL's bigint.
_MAX_FID = 2**63 - 1
# Platform for a link without one.
_WEBSITE = "website"
# Host -> platform, whatever name the launcher gave the link.
_PLATFORMS = {
    "x.com": "x",
    "twitter.com": "twitter",
    "farcaster.xyz": "farcaster",
    "warpcast.com": "warpcast",
    "t.me": "telegram",
    "telegram.me": "telegram",
}
# An http, https or ipfs link with a host and without credentials, which would hide the host. Browsers drop tabs and
# line breaks, and take a backslash for a slash.
_LINK = re.compile(
    r"(?:https?|ipfs)://(?:\[[0-9a-f:.]+\]|[^\s/?#@:\\\[\]<>\"]+)(?::[0-9]{1,5})?(?:[/?#][^\s\\<>\"]*)?", re.IGNORECASE
)

Json = dict[str, Any]


class SocialMediaLink(TypedDict):
    """Page about the token."""

    platform: str
    url: str


class TokenMetadata(TypedDict):
    """Texts and links from the launcher."""

    auditUrls: list[Annotated[str, "An http, https or ipfs URL."]]
    description: str | None
    socialMediaUrls: list[SocialMediaLink]


class SocialLink(TypedDict):
    """One of the token's links."""

    name: str
    link: str


class ContextFields(TypedDict):
    """As written by the launcher, not verified; further keys are passed through."""

    interface: str | None
    platform: str | None
    messageId: str | None
    id: str | None


SocialContext = Annotated[
    dict[str, Any], Component("SocialContext", properties_schema(ContextFields) | {"additionalProperties": True})
]


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def parse_metadata(text: str | None) -> TokenMetadata:
    """Return the record's `metadata` from the launcher's text. A text that is no JSON object is the description."""
    raw = _parse_object(text)
    if raw is None:
        return {"auditUrls": [], "description": to_storable_json(_text(text)), "socialMediaUrls": []}
    return clean_metadata(raw)


def clean_metadata(raw: Any) -> TokenMetadata:
    """Return the record's `metadata` from storable JSON. Values of unexpected types are left out."""
    raw = raw if isinstance(raw, dict) else {}
    return {
        "auditUrls": [url for url in map(_text, _list(raw.get("auditUrls"))) if url],
        "description": _text(raw.get("description")),
        "socialMediaUrls": [link for link in map(_link, _list(raw.get("socialMediaUrls"))) if link],
    }


def parse_context(text: str | None) -> Json:
    """Return the record's `social_context`: four fixed keys as text or None, and all other keys as launched.

    A context is untrusted: any launcher may write any platform and id into it.
    """
    raw = _parse_object(text) or {}
    fixed_keys = {key: _text(raw.get(key)) for key in ("interface", "platform", "messageId", "id")}
    return raw | fixed_keys


def farcaster_fid(context: Mapping[str, Any]) -> int | None:
    """Return the FID that a context names as the requestor, if its platform is Farcaster."""
    identity = context["id"] or ""
    if (context["platform"] or "").lower() != "farcaster" or not re.fullmatch(r"[0-9]{1,19}", identity, re.ASCII):
        return None
    fid = int(identity)
    return fid if 0 < fid <= _MAX_FID else None


def social_links(metadata: Any) -> list[SocialLink]:
    """Return the record's `socialLinks` from stored metadata: its web links."""
    links = clean_metadata(metadata)["socialMediaUrls"]
    return [{"name": link["platform"], "link": link["url"]} for link in _web_pages(links)]


def find_link(links: Iterable[SocialLink], *platforms: str) -> str | None:
    """Return the first URL in a record's `socialLinks` for one of the platforms (lower case)."""
    for link in links:
        if _platform(link["name"], link["link"]) in platforms:
            return link["link"]
    return None


def web_link(text: str | None) -> str | None:
    """Return an http, https or ipfs URL without blanks and invisible characters around it; None for anything else.

    Launchers write any text where a link belongs, and clients put it onto pages. All links in records pass here when
    they are read, so that old rows need no migration.
    """
    if not text:
        return None
    start, end = 0, len(text)
    while start < end and not _is_visible(text[start]):
        start += 1
    while start < end and not _is_visible(text[end - 1]):
        end -= 1
    url = text[start:end]
    return url if url.isprintable() and _LINK.fullmatch(url) else None


def with_web_links(metadata: Any) -> TokenMetadata:
    """Return stored metadata as `parse_metadata` does, with web links only: the same object if nothing changes."""
    cleaned = clean_metadata(metadata)
    audits = [link for link in map(web_link, cleaned["auditUrls"]) if link]
    links = _web_pages(cleaned["socialMediaUrls"])
    with_links: TokenMetadata = {**cleaned, "auditUrls": audits, "socialMediaUrls": links}
    stored: TokenMetadata = metadata
    return stored if with_links == stored else with_links


def _web_pages(links: Iterable[SocialMediaLink]) -> list[SocialMediaLink]:
    return [{**link, "url": url} for link in links if (url := web_link(link["url"]))]


def _is_visible(character: str) -> bool:
    return character.isprintable() and not character.isspace()


def copy_key(name: str, symbol: str) -> str:
    """Hash name and symbol without case and blanks to SHA-256 in hex. Tokens with the same key look alike.

    A digest because names have any length, and an index entry has not.
    """
    normal = "\n".join("".join(normalize_text(text).casefold().split()) for text in (name, symbol))
    return hashlib.sha256(normal.encode()).hexdigest()


def cut_text(text: str | None, limit: int = MAX_TEXT) -> str:
    """Return the text cut to `limit` characters; the empty string for None."""
    return (text or "")[:limit]


def to_storable_json(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Return the same JSON without values that PostgreSQL's jsonb or the API's renderer reject.

    They are NUL and lone surrogates in texts, numbers out of range, and deep nesting.
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
        return [to_storable_json(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {to_storable_json(key, depth): to_storable_json(item, depth - 1) for key, item in value.items()}
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
    return value if is_plain else to_storable_json(value)


def _is_plain(text: str) -> bool:
    """Return whether JSON certainly contains nothing that PostgreSQL or clients reject.

    Such JSON is parsed much faster.
    """
    if "\\u" in text or _LONG_NUMBER.search(text):
        return False
    return text.isascii() or not _SURROGATES.search(text)


def _text(value: Any) -> str | None:
    """Return a JSON scalar as text; None for null, booleans, objects and arrays."""
    return str(value)[:MAX_TEXT] or None if type(value) in (str, int, float) else None


def _list(value: Any) -> list[Any]:
    return value[:MAX_LINKS] if isinstance(value, list) else []


def _platform(name: str, url: str) -> str:
    """Return a link's platform in lower case.

    A plain website is mapped by its host, since many links are bare URLs.
    """
    named = name.lower()
    if named not in (_WEBSITE, "web"):
        return named
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return named
    return _PLATFORMS.get(host.removeprefix("www."), named)


def _link(value: Any) -> SocialMediaLink | None:
    """Return a social link. Launchers write objects or bare URLs."""
    if isinstance(value, str) and value:
        return {"platform": _WEBSITE, "url": value[:MAX_TEXT]}
    if not isinstance(value, dict):
        return None
    url = _text(value.get("url"))
    return {"platform": _text(value.get("platform")) or _WEBSITE, "url": url} if url else None
