"""Upload storages on loopback: S3-like with verified signatures, and a pinning node with Kubo's RPC.

Signatures are computed here by the steps of
https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, without the service's library.
"""

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from development.standins.loopback import ReceivedRequest, Reply, run_server

KEY_ID, SECRET, REGION, BUCKET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "eu-central-1", "launches"
TOKEN = "pinning-token"
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/([0-9]{8})/([^/]+)/s3/aws4_request,"
    r" ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})"
)


@dataclass
class Store:
    """What a storage holds by path or CID, the requests that it received, and how it fails."""

    held: dict[str, bytes] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    received: list[str] = field(default_factory=list)
    url: str = ""
    # Status of all responses, if it fails.
    status: int = 0
    # Response body from `add`, if it is not the usual one.
    answer: bytes | None = None
    # Set while it responds; otherwise it hangs.
    responds: Event = field(default_factory=Event)


def _answer_s3(store: Store, request: ReceivedRequest) -> tuple[int, bytes]:
    if not _is_signed(request):
        return 403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>"
    if not request.path.startswith(f"/{BUCKET}/"):
        return 404, b"<Error><Code>NoSuchBucket</Code></Error>"
    if request.method == "PUT":
        store.held[request.path] = request.content
        store.headers[request.path] = dict(request.headers)
        return 200, b""
    store.held.pop(request.path, None)
    return 204, b""


def _is_signed(request: ReceivedRequest) -> bool:
    found = _AUTHORIZATION.fullmatch(request.headers.get("authorization", ""))
    if found is None:
        return False
    key_id, day, region, names, signature = found.groups()
    digest = hashlib.sha256(request.content).hexdigest()
    signed = names.split(";")
    if (key_id, region) != (KEY_ID, REGION) or request.headers.get("x-amz-content-sha256") != digest:
        return False
    if not {"host", "x-amz-date", "x-amz-content-sha256"} <= set(signed):
        return False
    _, _, query = request.target.partition("?")
    headers = "".join(f"{name}:{' '.join(request.headers[name].split())}\n" for name in signed)
    canonical = "\n".join((request.method, request.path, query, headers, names, digest))
    moment = request.headers["x-amz-date"]
    scope = f"{day}/{region}/s3/aws4_request"
    text = "\n".join(("AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{SECRET}".encode()
    for part in (day, region, "s3", "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    expected = hmac.digest(key, text.encode(), "sha256").hex()
    return moment.startswith(day) and hmac.compare_digest(expected, signature)


def _answer_pinning(store: Store, request: ReceivedRequest) -> tuple[int, bytes]:
    if request.headers.get("authorization") != f"Bearer {TOKEN}":
        return 403, b"403 Forbidden\n"
    if request.path == "/api/v0/pin/rm":
        known = store.held.pop(request.query["arg"], None)
        error = {"Message": "not pinned or pinned indirectly", "Code": 0, "Type": "error"}
        return (500, _line(error)) if known is None else (200, _line({"Pins": [request.query["arg"]]}))
    if request.path != "/api/v0/add" or request.query.get("cid-version") != "1":
        return 404, b"404 page not found\n"
    boundary = re.search("boundary=(.+)", request.headers["content-type"])
    assert boundary
    head, _, content = request.content.partition(b"\r\n\r\n")
    content = content.removesuffix(f"\r\n--{boundary[1]}--\r\n".encode())
    assert b'name="file"; filename=' in head
    cid = raw_cid(content)
    if request.query["pin"] == "true" and request.query.get("only-hash") != "true":
        store.held[cid] = content
    usual = _line({"Name": cid, "Hash": cid, "Size": str(len(content))})
    return 200, usual if store.answer is None else store.answer


def _line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def raw_cid(content: bytes) -> str:
    """Return the CID for a file with one raw block."""
    multihash = b"\x01\x55\x12\x20" + hashlib.sha256(content).digest()
    return "b" + base64.b32encode(multihash).decode().rstrip("=").lower()


@contextmanager
def run_s3() -> Iterator[Store]:
    """Run an S3-like storage while the block runs."""
    with _run(_answer_s3) as store:
        yield store


@contextmanager
def run_pinning() -> Iterator[Store]:
    """Run a pinning node while the block runs."""
    with _run(_answer_pinning) as store:
        yield store


@contextmanager
def _run(answer: Callable[[Store, ReceivedRequest], tuple[int, bytes]]) -> Iterator[Store]:
    store = Store()
    store.responds.set()

    def respond(request: ReceivedRequest) -> Reply:
        store.received.append(f"{request.method} {request.target}")
        store.responds.wait(60)
        status, content = (store.status, b"") if store.status else answer(store, request)
        return Reply(content, status)

    with run_server(respond) as store.url:
        try:
            yield store
        finally:
            store.responds.set()
