"""JSON token document parsing: Metaplex's format, and the one that Solana's launchpads write. Pure.

https://developers.metaplex.com/token-metadata/token-standard defines the keys. The documents are untrusted: values with
unexpected types are left out, and name and symbol come only from the chain.
"""

from collections.abc import Iterator
from typing import Any

import orjson

from config.http.errors import PermanentError
from config.http.json_client import parse_json_response
from tokens.indexing.metadata import MAX_LINKS, MAX_TEXT, Json, clean_metadata, to_storable_json, web_link

# Keys in Metaplex's `extensions`, which many documents have at the top level.
_PLATFORMS = ("website", "twitter", "telegram", "discord", "farcaster")
_IMAGES = ("https://", "http://", "ipfs://", "ar://", "data:image/")


def parse_document(content: bytes) -> Json:
    """Return a document's content; missing values are empty.

    It is {"description": str, "img_url": str, "socialMediaUrls": [{platform, url}]}. Raises PermanentError unless the
    document is a JSON object.
    """
    try:
        document = parse_json_response(content)
    except orjson.JSONDecodeError:
        raise PermanentError("a document that is not JSON") from None
    if not isinstance(document, dict):
        raise PermanentError("a document that is no JSON object")
    raw = to_storable_json(document)
    links = list(_links(raw))[:MAX_LINKS]
    cleaned = clean_metadata({"description": raw.get("description"), "socialMediaUrls": links})
    return {
        "description": cleaned["description"] or "",
        "img_url": next(filter(None, map(_image, _images(raw))), ""),
        "socialMediaUrls": cleaned["socialMediaUrls"],
    }


def _links(raw: Json) -> Iterator[dict[str, str]]:
    """Yield the document's web links, each URL once."""
    extensions = _object(raw.get("extensions"))
    platform_urls = [(name, source.get(name)) for name in _PLATFORMS for source in (extensions, raw)]
    # Documents that this service stores have this format.
    own_links = [(link["platform"], link["url"]) for link in clean_metadata(raw)["socialMediaUrls"]]
    yielded_urls = set()
    for platform, url in [*platform_urls, ("website", raw.get("external_url")), *own_links]:
        link = web_link(url) if isinstance(url, str) else None
        if link and link not in yielded_urls:
            yielded_urls.add(link)
            yield {"platform": platform, "url": link}


def _images(raw: Json) -> Iterator[Any]:
    yield raw.get("image")
    files = _object(raw.get("properties")).get("files")
    for file in files[:MAX_LINKS] if isinstance(files, list) else []:
        if str(_object(file).get("type")).startswith("image/"):
            yield _object(file).get("uri")


def _image(value: Any) -> str:
    """Return an image URL; empty for anything else, and for a URL that is too long."""
    text = value.strip() if isinstance(value, str) else ""
    return text if len(text) <= MAX_TEXT and text.lower().startswith(_IMAGES) else ""


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}
