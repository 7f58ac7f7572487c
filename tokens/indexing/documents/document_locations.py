"""Locations of the documents that launches name by a URI. Pure."""

import base64
import binascii
import re
from urllib.parse import unquote, unquote_to_bytes

from config.http.errors import PermanentError

_WEB = re.compile(r"https?://", re.IGNORECASE)
_INLINE = re.compile(r"data:(?:application|text)/json((?:;[^,;]*)*),", re.IGNORECASE)
# A CID of any version and base consists of letters and digits. Many URIs repeat the gateways' path before it.
_IPFS = re.compile(r"ipfs://(?:ipfs/)?([A-Za-z0-9]{32,128}(?:/.*)?)", re.IGNORECASE | re.DOTALL)
_ARWEAVE = re.compile(r"ar://([A-Za-z0-9_-]{43}(?:/.*)?)", re.IGNORECASE | re.DOTALL)


def is_inline(uri: str) -> bool:
    """Return whether the URI contains the document."""
    return uri[:5].lower() == "data:"


def inline_document(uri: str) -> bytes:
    """Return the bytes of a document within its URI. Raises PermanentError."""
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


def document_url(uri: str, *, ipfs: str, arweave: str) -> str:
    """Return the http:// or https:// URL of a document; web URLs stay unchanged.

    `ipfs` and `arweave` are gateway URLs without a trailing slash, or empty. Raises PermanentError.
    """
    if _WEB.match(uri):
        return uri
    if found := _IPFS.fullmatch(uri):
        return _behind(ipfs, found[1], setting="IPFS_GATEWAY_URL")
    if found := _ARWEAVE.fullmatch(uri):
        return _behind(arweave, found[1], setting="ARWEAVE_GATEWAY_URL")
    raise PermanentError("a URI that is not https://, http://, ipfs:// with a CID, ar:// or data:")


def _behind(gateway: str, path: str, *, setting: str) -> str:
    if not gateway:
        raise PermanentError(f"{setting} is off: such documents are not fetched")
    # They would leave the gateway's directory, to whatever else its host serves.
    if any(part in (".", "..") for part in re.split(r"[/\\]", unquote(path))):
        raise PermanentError("a URI with . or .. in its path")
    return f"{gateway}/{path.partition('#')[0]}"
