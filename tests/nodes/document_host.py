"""A third-party document host on loopback, possibly hostile: it serves any bytes, at any speed."""

import json
import threading
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from development.standins.loopback import ReceivedRequest, run_server


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

    def respond(self, request: ReceivedRequest) -> Iterator[bytes]:
        """Yield the parts of the path's next response."""
        self.received.append(request.target)
        self.headers.append(dict(request.headers))
        pages = self.pages[request.target]
        page = pages.popleft() if len(pages) > 1 else pages[0]
        self.opened.wait()
        lines = [f"HTTP/1.0 {page.status} -", *(f"{name}: {value}" for name, value in page.headers.items())]
        yield "".join(f"{line}\r\n" for line in lines).encode()
        while page.endless_head and not self.closed.wait(page.pause):
            yield b"x-more: 1\r\n"
        yield b"\r\n"
        for part in [page.body] if isinstance(page.body, bytes) else page.body:
            if self.closed.wait(page.pause):
                return
            yield part


@contextmanager
def document_host() -> Iterator[DocumentHost]:
    """Run a host while the block runs."""
    host = DocumentHost()
    with run_server(host.respond) as host.url:
        try:
            yield host
        finally:
            # Releases delayed requests.
            host.closed.set()
            host.opened.set()
