"""Calls of the HTTP API with retries, below the generated operations."""

import json
import secrets
import time
from collections.abc import Callable, Mapping
from functools import partial
from http.cookies import SimpleCookie
from types import TracebackType
from typing import Any, Self, TypeVar, cast
from urllib.parse import quote, urlencode

import urllib3
from urllib3.exceptions import HTTPError

from launchboard.errors import LaunchboardError, is_retryable, log_wait, make_error
from launchboard.event_streams import EventStream

# Repeated without another effect than the first one. A POST has such a one only with a request key.
_REPEATABLE = {"GET", "HEAD", "PUT", "PATCH", "DELETE"}

# A redirect, such as to the stream's process, takes no credential to another host.
_CREDENTIALS = {"x-api-key", "authorization", "cookie"}

Answer = TypeVar("Answer")


# Of each attempt: redirects are followed, and errors are those of the first cause.
_ONE_ATTEMPT = urllib3.Retry(
    total=None,
    redirect=5,
    connect=False,
    read=False,
    other=0,
    respect_retry_after_header=False,
    remove_headers_on_redirect=_CREDENTIALS,
)


class Connection:
    """A service, the caller's credentials, and pooled connections. Threads may share it."""

    def __init__(
        self, url: str, *, key: str = "", user_token: str = "", retries: int = 5, timeout_seconds: float = 30.0
    ) -> None:
        """Take the service's URL, and a partner key or a user's token for operations that need one.

        Raises ValueError for a URL or a credential that no request can have.
        """
        if not url.startswith(("http://", "https://")) or not urllib3.util.parse_url(url).host:
            raise ValueError("URL must begin with http:// or https:// and have a host")
        if not all(text.isascii() and text.isprintable() for text in (key, user_token)):
            raise ValueError("key and user token must be printable ASCII")
        self._url = url.rstrip("/")
        self._headers = {"Accept": "application/json", "User-Agent": "launchboard-python"}
        if key:
            self._headers["x-api-key"] = key
        if user_token:
            self._headers["Authorization"] = f"Bearer {user_token}"
        self._cookies = SimpleCookie()
        self._retries = retries
        self._pool = urllib3.PoolManager(timeout=urllib3.Timeout(timeout_seconds))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.clear()

    def call(
        self,
        method: str,
        path: str,
        answer: type[Answer],
        *,
        values: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        media_type: str = "",
    ) -> Answer:
        """Return the decoded body of a response; None if it has none.

        `values` replace the names in the path. The body is sent as JSON, or as bytes with a media type. Raises
        LaunchboardError for an error response or one that is not JSON, and urllib3.exceptions.HTTPError without a
        whole response.
        """
        inputs: dict[str, Any] = {"values": values or {}, "query": query or {}, "body": body, "media_type": media_type}
        # Of the same picture or document an upload stores one file.
        may_repeat = method in _REPEATABLE or path.startswith("/api/uploads/") or _has_request_key(body)
        send = partial(self._send, method, path, **inputs)
        response = _send_with_retries(send, retries=self._retries, may_repeat=may_repeat)
        try:
            return cast(Answer, json.loads(response.data) if response.data else None)
        except ValueError as error:
            raise LaunchboardError(response.status, {"error": "the response is not JSON"}) from error

    def stream(self, path: str, *, query: Mapping[str, Any] | None = None) -> EventStream:
        """Return the events of a stream, which opens lost connections again until it is closed."""

        def open_response(last_id: str) -> urllib3.BaseHTTPResponse:
            position = {"Last-Event-ID": last_id} if last_id else {}
            headers = {"Accept": "text/event-stream"} | position
            return self._send("GET", path, values={}, query=query or {}, stream_headers=headers)

        return EventStream(open_response)

    def _send(
        self,
        method: str,
        path: str,
        *,
        values: Mapping[str, Any],
        query: Mapping[str, Any],
        body: Any = None,
        media_type: str = "",
        stream_headers: Mapping[str, str] | None = None,
    ) -> urllib3.BaseHTTPResponse:
        filled = path.format_map({name: quote(str(value), safe="") for name, value in values.items()})
        parameters = urlencode({name.rstrip("_"): _text(value) for name, value in query.items() if value is not None})
        headers = {**self._headers, **(stream_headers or {})}
        if self._cookies:
            headers["Cookie"] = self._cookies.output(attrs=[], header="", sep=";").strip()
        if media_type:
            headers["Content-Type"] = media_type
        response = self._pool.request(
            method,
            f"{self._url}{filled}{'?' if parameters else ''}{parameters}",
            headers=headers,
            **{"body" if media_type else "json": body},
            preload_content=stream_headers is None,
            retries=_ONE_ATTEMPT,
        )
        self._cookies.load(response.headers.get("Set-Cookie", ""))
        if response.status >= 400:
            raise make_error(response)
        return response


def _send_with_retries(
    send: Callable[[], urllib3.BaseHTTPResponse], *, retries: int, may_repeat: bool
) -> urllib3.BaseHTTPResponse:
    """Return the response of the first attempt that succeeds. Raises the error of the last one."""
    for attempt in range(retries):
        requested: float | None = None
        try:
            return send()
        except LaunchboardError as error:
            requested = error.retry_after
            if not is_retryable(error.status, requested, may_repeat=may_repeat):
                raise
            reason = str(error.status)
        except HTTPError as error:
            # Lost, maybe within the body.
            if not may_repeat:
                raise
            reason = str(error)
        wait = 0.5 * 2**attempt + secrets.SystemRandom().random() / 2 if requested is None else requested
        log_wait(reason, wait)
        time.sleep(wait)
    return send()


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _has_request_key(body: Any) -> bool:
    """Return whether a body is a deployment's, of which the service accepts one for each key."""
    token = body.get("token") if isinstance(body, dict) else None
    return isinstance(token, dict) and bool(token.get("requestKey"))
