"""Calls of the HTTP API with retries, below the generated operations."""

import json
from collections.abc import Iterator, Mapping
from http.cookies import SimpleCookie
from types import TracebackType
from typing import Any, Self, TypedDict, TypeVar, cast
from urllib.parse import quote, urlencode

import urllib3
from urllib3.connectionpool import ConnectionPool
from urllib3.exceptions import MaxRetryError, ResponseError

# A call is not repeated if the service requests a longer wait, such as until a daily limit ends.
LONGEST_WAIT_SECONDS = 60
_BUSY = (502, 503)
_TOO_MANY = 429
# Repeated without another effect than the first one. A POST has such a one only with a request key.
_REPEATABLE = {"GET", "HEAD", "PUT", "PATCH", "DELETE"}

# A redirect, such as to the stream's process, takes no credential to another host.
_CREDENTIALS = {"x-api-key", "authorization", "cookie"}

Json = dict[str, Any]
Answer = TypeVar("Answer")


class StreamEvent(TypedDict):
    """A server-sent event with its decoded data."""

    id: str
    event: str
    data: Any


class LaunchboardError(Exception):
    """An error response: its HTTP status and its body with `error` and, for invalid fields, `details`."""

    def __init__(self, status: int, body: Json, *, retry_after: int | None = None) -> None:
        super().__init__(f"{status}: {body.get('error', 'no error body')}")
        self.status = status
        self.body = body
        # In seconds; None if the response has no such header.
        self.retry_after = retry_after


class _Retries(urllib3.Retry):
    """Retries of refused calls, and of failed ones where they are repeatable, after the seconds of Retry-After."""

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
        """Return whether to repeat: a call over its rate limit was refused before any effect."""
        refused = status_code == _TOO_MANY and has_retry_after and bool(self.total)
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
    ) -> Answer:
        """Return the decoded body of a response; None if it has none.

        `values` replace the names in the path. Raises LaunchboardError for an error response, and
        urllib3.exceptions.HTTPError without a response.
        """
        response = self._send(method, path, values=values or {}, query=query or {}, body=body)
        return cast(Answer, json.loads(response.data) if response.data else None)

    def stream(self, path: str, *, query: Mapping[str, Any] | None = None) -> Iterator[StreamEvent]:
        """Yield server-sent events as they arrive, until the service ends the response. Raises as `call`."""
        response = self._send("GET", path, values={}, query=query or {}, body=None, preload_content=False)
        with response:
            lines: dict[str, str] = {}
            for line in _lines(response):
                name, _, value = line.partition(": ")
                if line:
                    lines[name] = value
                    continue
                if "data" in lines:
                    yield StreamEvent(id=lines.get("id", ""), event=lines["event"], data=json.loads(lines["data"]))
                lines = {}

    def _send(
        self,
        method: str,
        path: str,
        *,
        values: Mapping[str, Any],
        query: Mapping[str, Any],
        body: Any,
        preload_content: bool = True,
    ) -> urllib3.BaseHTTPResponse:
        filled = path.format_map({name: quote(str(value), safe="") for name, value in values.items()})
        parameters = urlencode({name.rstrip("_"): _text(value) for name, value in query.items() if value is not None})
        headers = dict(self._headers)
        if self._cookies:
            headers["Cookie"] = self._cookies.output(attrs=[], header="", sep=";").strip()
        may_repeat = method in _REPEATABLE or _has_request_key(body)
        response = self._pool.request(
            method,
            f"{self._url}{filled}{'?' if parameters else ''}{parameters}",
            headers=headers,
            json=body,
            preload_content=preload_content,
            retries=_Retries(
                total=self._retries,
                # None is for all methods.
                allowed_methods=None if may_repeat else _REPEATABLE,
                status_forcelist=_BUSY,
                backoff_factor=0.5,
                backoff_jitter=0.5,
                raise_on_status=False,
                remove_headers_on_redirect=_CREDENTIALS,
            ),
        )
        self._cookies.load(response.headers.get("Set-Cookie", ""))
        if response.status >= 400:
            raise _error(response)
        return response


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _has_request_key(body: Any) -> bool:
    """Return whether a body is a deployment's, of which the service accepts one for each key."""
    token = body.get("token") if isinstance(body, dict) else None
    return isinstance(token, dict) and bool(token.get("requestKey"))


def _error(response: urllib3.BaseHTTPResponse) -> LaunchboardError:
    try:
        body = json.loads(response.data)
    except ValueError:
        # Of a proxy in front of the service.
        body = {}
    seconds = response.headers.get("Retry-After", "")
    return LaunchboardError(
        response.status,
        body if isinstance(body, dict) else {},
        retry_after=int(seconds) if seconds.isdigit() else None,
    )


def _lines(response: urllib3.BaseHTTPResponse) -> Iterator[str]:
    rest = b""
    for part in response.stream(amt=None):
        *complete, rest = (rest + part).split(b"\n")
        yield from (line.decode() for line in complete)
