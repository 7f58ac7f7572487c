"""Token document locations, from the URIs that launches name. Pure."""

import base64
import binascii
import re
from collections.abc import Sequence
from urllib.parse import unquote, unquote_to_bytes

from config.http.errors import PermanentError

_WEB = re.compile(r"https?://", re.IGNORECASE)
_INLINE = re.compile(r"data:(?:application|text)/json((?:;[^,;]*)*),", re.IGNORECASE)
# A CID consists of letters and digits in each version and base. Many URIs repeat the gateways' path before it, wallets
# write one to three slashes, and some URIs are only the path.
_IPFS = re.compile(r"(?:ipfs:/{0,3}(?:ipfs/)?|/?ipfs/)([A-Za-z0-9]{32,128}(?:[/?#].*)?)", re.IGNORECASE | re.DOTALL)
# Version 0, in base 58, or version 1 in its usual base 32.
_BARE_CID = re.compile(r"((?:Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{50,127})(?:[/?#].*)?)", re.DOTALL)
_ARWEAVE = re.compile(r"ar://([A-Za-z0-9_-]{43}(?:/.*)?)", re.IGNORECASE | re.DOTALL)


def is_inline(uri: str) -> bool:
    """Return whether the URI contains the document."""
    return uri[:5].lower() == "data:"


def inline_document(uri: str) -> bytes:
    """Return the bytes of an inline document. Raises PermanentError."""
    head = _INLINE.match(uri)
    if head is None:
        raise PermanentError("a data: URI that is not of JSON")
    text = unquote_to_bytes(uri[head.end() :])
    if not head[1].lower().endswith(";base64"):
        return text
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise PermanentError("a data: URI whose base64 can't be read") from error


def document_urls(uri: str, *, ipfs: Sequence[str], arweave: Sequence[str]) -> list[str]:
    """Return a document's http:// or https:// URLs, at least one, the preferred first; web URLs are unchanged.

    `ipfs` and `arweave` are gateway URLs without a trailing slash. Raises PermanentError.
    """
    if _WEB.match(uri):
        return [uri]
    if location := _IPFS.fullmatch(uri) or _BARE_CID.fullmatch(uri):
        return _behind(ipfs, location[1], setting="IPFS_GATEWAY_URL")
    if location := _ARWEAVE.fullmatch(uri):
        return _behind(arweave, location[1], setting="ARWEAVE_GATEWAY_URL")
    raise PermanentError("a URI that is not https://, http://, a CID of IPFS, ar:// or data:")


def _behind(gateways: Sequence[str], location: str, *, setting: str) -> list[str]:
    if not gateways:
        raise PermanentError(f"{setting} is off: such documents are not fetched")
    # Such a path would leave the gateway's directory, and reach other files on its host.
    located = location.partition("#")[0]
    if any(segment in (".", "..") for segment in re.split(r"[/\\]", unquote(located.partition("?")[0]))):
        raise PermanentError("a URI with . or .. in its path")
    return [f"{gateway}/{located}" for gateway in gateways]
