"""Calls of the HTTP API with retries, below the generated operations."""

import json
from collections.abc import Mapping
from http.cookies import SimpleCookie
from types import TracebackType
from typing import Any, Self, TypeVar, cast
from urllib.parse import quote, urlencode

import urllib3
from urllib3.connectionpool import ConnectionPool
from urllib3.exceptions import MaxRetryError, ResponseError

from launchboard.errors import BUSY, LONGEST_WAIT_SECONDS, TOO_MANY, make_error
from launchboard.event_streams import EventStream

# Repeated without another effect than the first one. A POST has such a one only with a request key.
_REPEATABLE = {"GET", "HEAD", "PUT", "PATCH", "DELETE"}

# A redirect, such as to the stream's process, takes no credential to another host.
_CREDENTIALS = {"x-api-key", "authorization", "cookie"}

Answer = TypeVar("Answer")


class _Retries(urllib3.Retry):
    """Retries of refused calls, and of failed ones where they are repeatable, after the seconds of Retry-After."""

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
        """Return whether to repeat: a call over its rate limit was refused before any effect."""
        refused = status_code == TOO_MANY and has_retry_after and bool(self.total)
        return refused or super().is_retry(method, status_code, has_retry_after)

    def increment(
        self,
        method: str | None = None,
        url: str | None = None,
        response: urllib3.BaseHTTPResponse | None = None,
        error: Exception | None = None,
        _pool: ConnectionPool | None = None,
        _stacktrace: TracebackType | None = None,
    ) -> Self:
        """Count an attempt. Raises MaxRetryError, which returns the response, if its wait is too long."""
        wait = self.get_retry_after(response) if response is not None else None
        if _pool and wait is not None and wait > LONGEST_WAIT_SECONDS:
            raise MaxRetryError(_pool, url, ResponseError(f"Retry-After: {wait:.0f}"))
        return super().increment(method, url, response, error, _pool, _stacktrace)


# Of a stream, which repeats its attempts itself and may be closed meanwhile. Redirects are followed.
_ONE_ATTEMPT = _Retries(
    total=None, redirect=5, connect=0, read=0, other=0, raise_on_status=False, remove_headers_on_redirect=_CREDENTIALS
)


class Connection:
    """A service, the caller's credentials, and pooled connections. Threads may share it."""

    def __init__(
        self, url: str, *, key: str = "", user_token: str = "", retries: int = 5, timeout_seconds: float = 30.0
    ) -> None:
        """Take the service's URL, and a partner key or a user's token for operations that need one."""
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
        LaunchboardError for an error response, and urllib3.exceptions.HTTPError without a response.
        """
        response = self._send(method, path, values=values or {}, query=query or {}, body=body, media_type=media_type)
        return cast(Answer, json.loads(response.data) if response.data else None)

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
            retries=self._retries_of_call(method, body) if stream_headers is None else _ONE_ATTEMPT,
        )
        self._cookies.load(response.headers.get("Set-Cookie", ""))
        if response.status >= 400:
            raise make_error(response)
        return response

    def _retries_of_call(self, method: str, body: Any) -> _Retries:
        # Of the same bytes an upload stores one file.
        may_repeat = method in _REPEATABLE or isinstance(body, bytes) or _has_request_key(body)
        return _Retries(
            total=self._retries,
            # None is for all methods.
            allowed_methods=None if may_repeat else _REPEATABLE,
            status_forcelist=BUSY,
            backoff_factor=0.5,
            backoff_jitter=0.5,
            raise_on_status=False,
            remove_headers_on_redirect=_CREDENTIALS,
        )


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _has_request_key(body: Any) -> bool:
    """Return whether a body is a deployment's, of which the service accepts one for each key."""
    token = body.get("token") if isinstance(body, dict) else None
    return isinstance(token, dict) and bool(token.get("requestKey"))
