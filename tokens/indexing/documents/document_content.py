"""What is taken from the JSON documents that describe tokens: Metaplex's, and as launchpads of Solana write them. Pure.

https://developers.metaplex.com/token-metadata/token-standard tells the keys. Anybody writes such a document: what is of
another type than expected is left out, and name and symbol are the chain's alone.
"""

from collections.abc import Iterator
from typing import Any

import orjson

from config.http.json_client import Permanent, parse_json
from tokens.indexing.metadata import MAX_LINKS, MAX_TEXT, Json, clean_metadata, runs_something, storable

# Of Metaplex's `extensions`, which many write at the top.
_PLATFORMS = ("website", "twitter", "telegram", "discord", "farcaster")
_IMAGES = ("https://", "http://", "ipfs://", "ar://", "data:image/")


def read_document(content: bytes) -> Json:
    """{"description": str, "img_url": str, "socialMediaUrls": [{platform, url}]}, empty where nothing is told.

    Raises Permanent where it is no JSON object.
    """
    try:
        document = parse_json(content)
    except orjson.JSONDecodeError:
        raise Permanent("a document that is not JSON") from None
    if not isinstance(document, dict):
        raise Permanent("a document that is no JSON object")
    raw = storable(document)
    links = list(_links(raw))[:MAX_LINKS]
    cleaned = clean_metadata({"description": raw.get("description"), "socialMediaUrls": links})
    return {
        "description": cleaned["description"] or "",
        "img_url": next(filter(None, map(_image, _images(raw))), ""),
        "socialMediaUrls": cleaned["socialMediaUrls"],
    }


def _links(raw: Json) -> Iterator[dict[str, str]]:
    """What it links to, each page once; none that a browser would run."""
    extensions = _object(raw.get("extensions"))
    told = [(name, source.get(name)) for name in _PLATFORMS for source in (extensions, raw)]
    seen = set()
    for platform, url in [*told, ("website", raw.get("external_url"))]:
        if isinstance(url, str) and url.strip() and url.strip() not in seen and not runs_something(url):
            seen.add(url.strip())
            yield {"platform": platform, "url": url.strip()}


def _images(raw: Json) -> Iterator[Any]:
    yield raw.get("image")
    files = _object(raw.get("properties")).get("files")
    for file in files[:MAX_LINKS] if isinstance(files, list) else []:
        if str(_object(file).get("type")).startswith("image/"):
            yield _object(file).get("uri")


def _image(value: Any) -> str:
    """The address of a picture; empty for what is none. A longer one is none: no part of an address is of use."""
    text = value.strip() if isinstance(value, str) else ""
    return text if len(text) <= MAX_TEXT and text.lower().startswith(_IMAGES) else ""


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}
