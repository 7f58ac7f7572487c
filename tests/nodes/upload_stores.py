"""Upload storages on loopback: S3-like with verified signatures, and a pinning node with Kubo's RPC.

Signatures are computed here by the steps of
https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, without the service's library.
"""

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.nodes.json_server import QuietHandler, run_server

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


class _StoreHandler(QuietHandler):
    store: Store

    def handle_request(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.store.received.append(f"{self.command} {self.path}")
        self.store.responds.wait(60)
        status, answer = (self.store.status, b"") if self.store.status else self.respond(body)
        self.send_response(status)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def respond(self, body: bytes) -> tuple[int, bytes]:
        raise NotImplementedError

    def do_PUT(self) -> None:
        self.handle_request()

    def do_DELETE(self) -> None:
        self.handle_request()

    def do_POST(self) -> None:
        self.handle_request()


class _S3Handler(_StoreHandler):
    def respond(self, body: bytes) -> tuple[int, bytes]:
        if not self._is_signed(body):
            return 403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>"
        path = urlsplit(self.path).path
        if not path.startswith(f"/{BUCKET}/"):
            return 404, b"<Error><Code>NoSuchBucket</Code></Error>"
        if self.command == "PUT":
            self.store.held[path] = body
            self.store.headers[path] = {name.lower(): value for name, value in self.headers.items()}
            return 200, b""
        self.store.held.pop(path, None)
        return 204, b""

    def _is_signed(self, body: bytes) -> bool:
        found = _AUTHORIZATION.fullmatch(self.headers.get("authorization", ""))
        if found is None:
            return False
        key_id, day, region, names, signature = found.groups()
        digest = hashlib.sha256(body).hexdigest()
        signed = names.split(";")
        if (key_id, region) != (KEY_ID, REGION) or self.headers.get("x-amz-content-sha256") != digest:
            return False
        if not {"host", "x-amz-date", "x-amz-content-sha256"} <= set(signed):
            return False
        parts = urlsplit(self.path)
        headers = "".join(f"{name}:{' '.join(self.headers[name].split())}\n" for name in signed)
        request = "\n".join((self.command, parts.path, parts.query, headers, names, digest))
        moment = self.headers["x-amz-date"]
        scope = f"{day}/{region}/s3/aws4_request"
        text = "\n".join(("AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(request.encode()).hexdigest()))
        key = f"AWS4{SECRET}".encode()
        for part in (day, region, "s3", "aws4_request"):
            key = hmac.digest(key, part.encode(), "sha256")
        expected = hmac.digest(key, text.encode(), "sha256").hex()
        return moment.startswith(day) and hmac.compare_digest(expected, signature)


class _PinningHandler(_StoreHandler):
    def respond(self, body: bytes) -> tuple[int, bytes]:
        if self.headers.get("authorization") != f"Bearer {TOKEN}":
            return 403, b"403 Forbidden\n"
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path == "/api/v0/pin/rm":
            known = self.store.held.pop(query["arg"], None)
            error = {"Message": "not pinned or pinned indirectly", "Code": 0, "Type": "error"}
            return (500, _line(error)) if known is None else (200, _line({"Pins": [query["arg"]]}))
        if parts.path != "/api/v0/add" or query.get("cid-version") != "1":
            return 404, b"404 page not found\n"
        boundary = re.search("boundary=(.+)", self.headers["content-type"])
        assert boundary
        head, _, content = body.partition(b"\r\n\r\n")
        content = content.removesuffix(f"\r\n--{boundary[1]}--\r\n".encode())
        assert b'name="file"; filename=' in head
        cid = raw_cid(content)
        if query["pin"] == "true" and query.get("only-hash") != "true":
            self.store.held[cid] = content
        return 200, _line({"Name": cid, "Hash": cid, "Size": str(len(content))}) if (
            self.store.answer is None
        ) else self.store.answer


def _line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def raw_cid(content: bytes) -> str:
    """Return the CID for a file with one raw block."""
    multihash = b"\x01\x55\x12\x20" + hashlib.sha256(content).digest()
    return "b" + base64.b32encode(multihash).decode().rstrip("=").lower()


@contextmanager
def run_s3() -> Iterator[Store]:
    """Run an S3-like storage while the block runs."""
    with _run(_S3Handler) as store:
        yield store


@contextmanager
def run_pinning() -> Iterator[Store]:
    """Run a pinning node while the block runs."""
    with _run(_PinningHandler) as store:
        yield store


@contextmanager
def _run(handler: type[_StoreHandler]) -> Iterator[Store]:
    store = Store()
    store.responds.set()
    with run_server(type("Handler", (handler,), {"store": store})) as store.url:
        try:
            yield store
        finally:
            store.responds.set()
