"""Uploads on IPFS, by Kubo's RPC: your own node, IPFS Cluster's proxy, or a compatible pinning service.

https://docs.ipfs.tech/reference/kubo/rpc/#api-v0-add and #api-v0-pin-rm
"""

import base64
import hashlib
import re
from typing import Any

import base58
from django.conf import settings

from config.http.errors import InvalidResponseError, RetryableError
from config.http.json_client import json_member, parse_json_response, send_content

_SCHEME = "ipfs://"
# A file that fits in a chunk is one raw block, so that its CID has the digest of its bytes. Peers accept up to 2 MiB.
_ADD = "add?cid-version=1&raw-leaves=true&pin=true&progress=false&chunker=size-1048576"
# The smallest default chunk size: a file with at most this many bytes is one block everywhere.
_LEAST_BLOCK = 256 * 1024
_MAX_ANSWER = 64 * 1024
# Status for every command that fails; the body has a message.
_FAILED = 500
# SHA-256 multihash prefix: the code, and the length, 32 bytes (https://github.com/multiformats/multicodec).
_SHA_256 = b"\x12\x20"
# Version 1 with the codecs for raw blocks and for UnixFS.
_RAW, _UNIXFS = b"\x01\x55" + _SHA_256, b"\x01\x70" + _SHA_256
_DIGEST_BYTES = 32
_VERSION_0 = re.compile("Qm[1-9A-HJ-NP-Za-km-z]{44}")
_VERSION_1 = re.compile("b[a-z2-7]{58}")


def pin_content(name: str, content: bytes, *, media_type: str) -> str:
    """Add a file, pin it and return `ipfs://` with its CID. Raises RetryableError, PermanentError.

    Raises InvalidResponseError for a response without a CID, or with a CID for other bytes.
    """
    answer = _post(_ADD, {"files": {"file": (name, content, media_type)}})
    # Each line is a JSON value; the file's is the last one.
    try:
        cid = json_member(parse_json_response(answer.strip().rpartition(b"\n")[2]), "Hash")
    except ValueError:
        cid = None
    if not isinstance(cid, str) or not is_cid_of(cid, content):
        raise InvalidResponseError("no CID of the file")
    return f"{_SCHEME}{cid}"


def unpin(url: str) -> None:
    """Remove a file's pin, if there is one. Raises RetryableError, PermanentError.

    The node's garbage collection deletes the file later. Copies on other nodes stay.
    """
    answer = _post(f"pin/rm?arg={url.removeprefix(_SCHEME)}", {}, accepted=(200, _FAILED))
    if b'"Pins"' not in answer and b"not pinned" not in answer:
        raise RetryableError("a pin that can't be removed")


def probe_pinning() -> None:
    """Let the node hash a file without storing it. Raises RetryableError, PermanentError."""
    _post(f"{_ADD.replace('pin=true', 'pin=false')}&only-hash=true", {"files": {"file": ("probe", b"probe")}})


def is_cid_of(cid: str, content: bytes) -> bool:
    """Return whether `cid` may be the content's CID. For a tree of blocks it can't be computed, and any CID passes."""
    decoded = decode_cid(cid)
    if decoded is None:
        return False
    if decoded.startswith(_RAW):
        return decoded == _RAW + hashlib.sha256(content).digest()
    # Some services ignore the options of `_ADD`.
    return len(content) > _LEAST_BLOCK or decoded[-_DIGEST_BYTES:] == _file_digest(content)


def _file_digest(content: bytes) -> bytes:
    """Return the digest for a one-block file without raw leaves: a dag-pb node with a UnixFS file.

    https://specs.ipfs.tech/unixfs/
    """
    size = _varint(len(content))
    data = b"\x12" + size + content if content else b""
    # The type "file", and the size.
    file = b"\x08\x02" + data + b"\x18" + size
    return hashlib.sha256(b"\x0a" + _varint(len(file)) + file).digest()


def _varint(number: int) -> bytes:
    groups = []
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*groups, number])


def decode_cid(cid: str) -> bytes | None:
    """Return the bytes in a file's SHA-256 CID, version 0 in base58 or 1 in base32; None for any other text."""
    prefixes: tuple[bytes, ...] = (_SHA_256,)
    if _VERSION_0.fullmatch(cid):
        decoded = base58.b58decode(cid)
    elif _VERSION_1.fullmatch(cid):
        # 36 bytes have 58 base32 digits, and the decoder requires whole groups of 8.
        decoded, prefixes = base64.b32decode(cid[1:].upper() + "======"), (_RAW, _UNIXFS)
    else:
        return None
    is_file = any(decoded.startswith(prefix) and len(decoded) == len(prefix) + _DIGEST_BYTES for prefix in prefixes)
    return decoded if is_file else None


def _post(command: str, content: dict[str, Any], *, accepted: tuple[int, ...] = (200,)) -> bytes:
    token = settings.UPLOAD_PINNING_TOKEN.reveal()
    return send_content(
        "POST",
        f"{settings.UPLOAD_PINNING_URL}/api/v0/{command}",
        content | {"headers": {"Authorization": f"Bearer {token}"} if token else {}},
        timeout=settings.UPLOAD_TIMEOUT_SECONDS,
        accepted=accepted,
        max_bytes=_MAX_ANSWER,
    )
