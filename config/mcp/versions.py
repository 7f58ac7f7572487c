"""Protocol revisions: which one a request is in, and the rules for its headers.

Requests since 2026-07-28 are independent: each names its revision in `_meta` and in a header. Clients with earlier
revisions begin with `initialize`, about which nothing is stored. Source: the specification, "Versioning" and
"Streamable HTTP".
"""

import base64
import binascii
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from config.mcp.messages import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    UNSUPPORTED_VERSION,
    Message,
    RpcError,
    refused_field,
)

# Newest first. Earlier revisions than these have batches.
STATELESS_VERSIONS = ("2026-07-28",)
HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18")
SUPPORTED_VERSIONS = (*STATELESS_VERSIONS, *HANDSHAKE_VERSIONS)

_PREFIX = "io.modelcontextprotocol/"
VERSION_KEY, CAPABILITIES_KEY = f"{_PREFIX}protocolVersion", f"{_PREFIX}clientCapabilities"
SERVER_KEY = f"{_PREFIX}serverInfo"
_VERSION_HEADER, _METHOD_HEADER, _NAME_HEADER = "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"
HEADERS = (_VERSION_HEADER, _METHOD_HEADER, _NAME_HEADER)
# Header -> the field that it repeats.
_REPEATED = {_METHOD_HEADER: "method", _NAME_HEADER: "params.name"}
_ENCODED_START, _ENCODED_END = "=?base64?", "?="


class Era(StrEnum):
    """Kind of revision: with or without a handshake."""

    STATELESS = "stateless"
    HANDSHAKE = "handshake"


def era_of_headers(headers: Mapping[str, str]) -> Era | None:
    """Return the era that an unread message's headers name; None if they name no supported revision."""
    version = headers.get(_VERSION_HEADER)
    if version in HANDSHAKE_VERSIONS:
        return Era.HANDSHAKE
    return Era.STATELESS if version in STATELESS_VERSIONS else None


def find_era(message: Message, headers: Mapping[str, str]) -> Era:
    """Return a message's era, after checking its metadata and headers. Raises RpcError (400).

    Headers that repeat the body are required since the stateless revision. In any revision, also for a notification, a
    header that contradicts the body is refused: a proxy may have let the message pass by it.
    """
    header, meta_version = headers.get(_VERSION_HEADER), message.meta.get(VERSION_KEY)
    if None not in (header, meta_version) and meta_version != header:
        raise refused_field(HEADER_MISMATCH, _VERSION_HEADER, f"must be the value of {VERSION_KEY} in params._meta")
    _check_header(headers, _METHOD_HEADER, message.method)
    # Also for methods that this service lacks.
    _check_header(headers, _NAME_HEADER, message.params.get("name", message.params.get("uri")))
    if message.method == "initialize":
        # Its version is an offer. A client that connects again may send its former connection's header.
        return Era.HANDSHAKE
    if message.message_id is None:
        # No revision defines separate headers for notifications over HTTP.
        return Era.STATELESS if meta_version in STATELESS_VERSIONS else Era.HANDSHAKE
    if header is None:
        raise refused_field(HEADER_MISMATCH, _VERSION_HEADER, f"is required: {' or '.join(SUPPORTED_VERSIONS)}")
    if header in HANDSHAKE_VERSIONS:
        return Era.HANDSHAKE
    if header not in STATELESS_VERSIONS:
        data = {"supported": SUPPORTED_VERSIONS, "requested": header}
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data=data)
    _check_metadata(message)
    required = (_METHOD_HEADER, *((_NAME_HEADER,) if message.method == "tools/call" else ()))
    for name in required:
        if name not in headers:
            raise refused_field(HEADER_MISMATCH, name, f"is required, with the value of {_REPEATED[name]}")
    return Era.STATELESS


def negotiated_version(requested: Any) -> str:
    """Return the revision for a handshake: the requested one if it is supported, or else the newest with a handshake.

    Raises RpcError for a version that is no text.
    """
    if not isinstance(requested, str):
        raise refused_field(INVALID_PARAMS, "params.protocolVersion", "must be text")
    return requested if requested in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[0]


def _check_metadata(message: Message) -> None:
    if VERSION_KEY not in message.meta:
        raise refused_field(INVALID_PARAMS, f"params._meta.{VERSION_KEY}", "is required")
    if not isinstance(message.meta.get(CAPABILITIES_KEY), dict):
        raise refused_field(INVALID_PARAMS, f"params._meta.{CAPABILITIES_KEY}", "is required, as a JSON object")


def _check_header(headers: Mapping[str, str], name: str, value: Any) -> None:
    """Raise RpcError for a header that does not repeat its field, which proxies may have used instead of the body."""
    text = headers.get(name)
    if text is not None and _decode_header(text) != value:
        raise refused_field(HEADER_MISMATCH, name, f"must be the value of {_REPEATED[name]}")


def _decode_header(text: str) -> str | None:
    """Return a header's value, which is encoded if it is not visible ASCII; None for an invalid encoding."""
    if not (text.startswith(_ENCODED_START) and text.endswith(_ENCODED_END)):
        return text
    encoded = text.removeprefix(_ENCODED_START).removesuffix(_ENCODED_END)
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
