"""A third-party document host on loopback, possibly hostile: it serves any bytes, at any speed."""

import json
import threading
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.nodes.json_server import QuietHandler, run_server

HOST = "127.0.0.1"


@dataclass(frozen=True, kw_only=True)
class Page:
    """A path's response. Each body part is sent after the delay, in seconds."""

    body: bytes | Iterator[bytes] = b"{}"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pause: float = 0.0
    # The head is slow, too: a header field after each delay.
    endless_head: bool = False


def json_page(value: Any, **more: Any) -> Page:
    return Page(body=json.dumps(value).encode(), **more)


def redirect(location: str, status: int = 302) -> Page:
    return Page(body=b"", status=status, headers={"location": location})


class DocumentHost:
    """The host's pages and the requests that it received. `document_host` runs one."""

    def __init__(self) -> None:
        self.url = ""
        # Path -> its responses, one after another; the last one is repeated.
        self.pages: defaultdict[str, deque[Page]] = defaultdict(lambda: deque([Page(status=404)]))
        # Paths in order of arrival, and their header fields in lower case.
        self.received: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.closed = threading.Event()
        # Delayed requests wait until it is set.
        self.opened = threading.Event()
        self.opened.set()

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    def put(self, path: str, *pages: Page) -> str:
        """Serve these responses at the path and return its URL."""
        self.pages[path] = deque(pages)
        return f"{self.url}{path}"

    def next_page(self, path: str, headers: dict[str, str]) -> Page:
        self.received.append(path)
        self.headers.append(headers)
        pages = self.pages[path]
        return pages.popleft() if len(pages) > 1 else pages[0]


@contextmanager
def document_host() -> Iterator[DocumentHost]:
    """Run a host while the block runs."""
    host = DocumentHost()
    with run_server(type("Handler", (_Handler,), {"host": host})) as host.url:
        try:
            yield host
        finally:
            # Releases delayed requests.
            host.closed.set()
            host.opened.set()


class _Handler(QuietHandler):
    host: DocumentHost

    def do_GET(self) -> None:
        page = self.host.next_page(self.path, {name.lower(): value for name, value in self.headers.items()})
        self.host.opened.wait()
        self.send_response(page.status)
        for name, value in page.headers.items():
            self.send_header(name, value)
        while page.endless_head and not self.host.closed.wait(page.pause):
            self.send_header("x-more", "1")
            self.flush_headers()
        self.end_headers()
        for part in [page.body] if isinstance(page.body, bytes) else page.body:
            if self.host.closed.wait(page.pause):
                return
            self.wfile.write(part)
