"""Request bodies, read on the event loop where the address takes one: a deadline, and limits of size and memory."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterable, Iterator
from contextlib import contextmanager
from wsgiref.types import WSGIEnvironment

from django.urls import Resolver404, resolve

from config.client_ip import address_key
from config.edge.wsgi_environ import RefusedRequestError

# Default limit; a view that accepts more or less sets `max_body_bytes`.
MAX_BODY_BYTES = 1024 * 1024
# Limit of views without a credential, whose bodies have a few short texts.
SMALL_BODY_BYTES = 16 * 1024
# The requests of one client address may use this part of the memory for bodies.
_CLIENT_SHARE = 4
# Methods whose requests have no content that means anything (RFC 9110, 9.3). No endpoint reads that of a DELETE.
_WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "DELETE"})
# Its forms are posted.
_FORMS = "/admin/"


class BodyMemory:
    """Memory for the bodies of all requests that wait or run in this process, counted by client address.

    Used on the event loop only.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held: Counter[str] = Counter()

    @contextmanager
    def body(self, environ: WSGIEnvironment, *, timeout: float) -> Iterator["IncomingBody"]:
        """Yield the body of a request; its memory is counted until the block ends."""
        client = address_key(environ)
        body = IncomingBody(self, client, environ, timeout=timeout)
        try:
            yield body
        finally:
            self._held[client] -= body.held
            if not self._held[client]:
                del self._held[client]

    def reserve(self, client: str, size: int) -> None:
        """Count `size` bytes more. Raises RefusedRequestError (503) beyond the share of this client, or of all."""
        if self._held[client] + size > self._max_bytes // _CLIENT_SHARE or self._held.total() + size > self._max_bytes:
            raise RefusedRequestError(503, "Too many request bodies at once")
        self._held[client] += size


class IncomingBody:
    """Body of one request."""

    def __init__(self, memory: BodyMemory, client: str, environ: WSGIEnvironment, *, timeout: float) -> None:
        self._memory, self._client, self._environ, self._timeout = memory, client, environ, timeout
        is_chunked = "HTTP_TRANSFER_ENCODING" in environ
        # Transfer-Encoding overrides Content-Length (RFC 9112, 6.3).
        self._declared = None if is_chunked else int(environ.get("CONTENT_LENGTH") or 0)
        self.held = 0
        # Whether the client may still send parts.
        self.is_unread = self._declared != 0

    def is_empty(self) -> bool:
        """Return whether the request has no body."""
        return self._declared == 0

    async def read(self, parts: AsyncIterable[bytes]) -> tuple[bytes, int]:
        """Return the body, and the length that the application should compare with its limit.

        A body of more than the endpoint's limit by its declared length is not read, and returned as empty. One
        without a length is cut one byte above the limit. That of an address which takes none is not read either, and
        the application gets no length of it. Raises RefusedRequestError for a body of a method without bodies (413),
        for one that is late (408) or incomplete (400), or while bodies use all of their memory (503).
        """
        limit = body_limit(self._environ)
        if self._declared is not None and self._declared > limit:
            return self._over_limit(b"", self._declared, limit)
        content, empty_parts = bytearray(), 0
        try:
            async with asyncio.timeout(self._timeout):
                async for part in parts:
                    empty_parts += not part
                    self._memory.reserve(self._client, len(part))
                    self.held += len(part)
                    content += part
                    if len(content) > limit:
                        return self._over_limit(bytes(content[: limit + 1]), limit + 1, limit)
        except TimeoutError:
            raise RefusedRequestError(408, f"Request body did not arrive within {self._timeout:g} s") from None
        self.is_unread = False
        # The server returns an empty part at the end, and one more if the connection or the encoding broke off.
        if empty_parts > 1:
            raise RefusedRequestError(400, "Request body is incomplete")
        return bytes(content), len(content)

    def _over_limit(self, content: bytes, length: int, limit: int) -> tuple[bytes, int]:
        if self._environ["REQUEST_METHOD"] in _WITHOUT_BODY:
            raise RefusedRequestError(413, f"A {self._environ['REQUEST_METHOD']} request takes no body")
        # Then the response is 404 or 405.
        return (content, length) if limit else (b"", 0)


def body_limit(environ: WSGIEnvironment) -> int:
    """Return the bytes that the body of a request may have; 0 if the method or the address takes none."""
    method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
    if method in _WITHOUT_BODY:
        return 0
    if path.startswith(_FORMS):
        return MAX_BODY_BYTES
    try:
        view = getattr(resolve(path).func, "cls", None)
    except Resolver404:
        view = None
    return getattr(view, "max_body_bytes", MAX_BODY_BYTES) if hasattr(view, method.lower()) else 0
