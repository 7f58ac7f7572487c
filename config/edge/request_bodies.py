"""Request bodies, read on the event loop if the address takes one: a deadline, and size and memory limits."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterable, Iterator
from contextlib import contextmanager
from wsgiref.types import WSGIEnvironment

from config.edge.wsgi_environ import RefusedRequestError
from config.web.body_limits import METHODS_WITHOUT_BODY, body_limit
from config.web.client_ip import address_key

# One client address may use 1/_CLIENT_SHARE of the memory for bodies.
_CLIENT_SHARE = 4


class BodyMemory:
    """Memory for request bodies while the requests wait or run in this process, counted by client address.

    Used on the event loop only.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held: Counter[str] = Counter()

    @contextmanager
    def body(self, environ: WSGIEnvironment, *, timeout: float) -> Iterator["IncomingBody"]:
        """Yield the request's body; its memory is counted until the block ends."""
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
    """One request's body."""

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

    async def read(self, chunks: AsyncIterable[bytes]) -> tuple[bytes, int]:
        """Return the body, and the length that the application should compare with its limit.

        A body whose declared length is above the endpoint's limit is not read, and returned as empty. A body without a
        length is cut one byte above the limit. If the address takes no body, it is not read either, and the application
        gets no length. Raises RefusedRequestError for a late (408) or incomplete body (400), for a body whose method
        takes none (413), or while bodies use all of their memory (503).
        """
        limit = body_limit(self._environ)
        if self._declared is not None and self._declared > limit:
            return self._over_limit(b"", self._declared, limit)
        content, empty_parts = bytearray(), 0
        try:
            async with asyncio.timeout(self._timeout):
                async for chunk in chunks:
                    empty_parts += not chunk
                    self._memory.reserve(self._client, len(chunk))
                    self.held += len(chunk)
                    content += chunk
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
        if self._environ["REQUEST_METHOD"] in METHODS_WITHOUT_BODY:
            raise RefusedRequestError(413, f"A {self._environ['REQUEST_METHOD']} request takes no body")
        # Then the response is 404 or 405.
        return (content, length) if limit else (b"", 0)
