"""Outbound HTTP client, mostly for JSON: pooled connections, mandatory timeouts, and two families of errors.

Also functions that read untrusted JSON: a value of an unexpected type counts as absent.
"""

import email.utils
import logging
import re
import threading
import time
from collections.abc import Container, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import orjson
import requests
import urllib3
import urllib3.exceptions
from requests.adapters import HTTPAdapter

from config.http.compute_lock import waiting
from config.http.errors import (
    HTTPStatusError,
    NoResponseError,
    RateLimitedError,
    ResponseTimeoutError,
    ResponseTooLargeError,
    RetryableError,
)

# Largest response body, whatever the service sends.
MAX_RESPONSE_BYTES = 64 * 1024 * 1024
# Largest Retry-After.
MAX_RETRY_AFTER_SECONDS = 86_400.0

# 524 is Cloudflare's.
_GATEWAY_TIMED_OUT = (504, 524)

# Its debug lines contain request paths, where providers put keys.
logging.getLogger("urllib3.connectionpool").setLevel(logging.INFO)

# Some services cut texts within an emoji and send one surrogate escape without the other; orjson then refuses the body.
# The group matches what stays: an escaped backslash, and paired escapes.
_SURROGATES = re.compile(
    rb"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)

_local = threading.local()


def thread_session() -> requests.Session:
    """Return this thread's session, which keeps connections open between calls."""
    if not hasattr(_local, "session"):
        _local.session = requests.Session()
        # Proxies and certificates come from `_environment`: requests would read the environment for each call.
        _local.session.trust_env = False
        adapter = HTTPAdapter(pool_connections=16, pool_maxsize=16)
        _local.session.mount("http://", adapter)
        _local.session.mount("https://", adapter)
    existing: requests.Session = _local.session
    return existing


@lru_cache(maxsize=256)
def _environment(url: str) -> Mapping[str, Any]:
    """Return the proxies and certificates that the environment sets for a URL, as arguments for `Session.request`."""
    settings = requests.Session().merge_environment_settings(url, {}, None, None, None)
    return {name: settings[name] for name in ("proxies", "verify")}


def post_json(
    url: str,
    body: Any,
    *,
    timeout: float,
    max_bytes: int = MAX_RESPONSE_BYTES,
    headers: Mapping[str, str] = {},
) -> Any:
    """POST a JSON body and return the parsed JSON response.

    `timeout` is in seconds, for the connection, for the response head, and once more for the whole body. Raises
    RetryableError or PermanentError; ResponseTooLargeError for a body above `max_bytes`. No error text contains the
    URL, which may hold a provider's key.
    """
    content = {"data": orjson.dumps(body), "headers": {"Content-Type": "application/json", **headers}}
    return _request("POST", url, content, timeout=timeout, max_bytes=max_bytes)


def get_json(
    url: str,
    *,
    timeout: float,
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    max_bytes: int = MAX_RESPONSE_BYTES,
) -> Any:
    """GET a URL and return the parsed JSON response; `params` are added to the query.

    Timeout and errors as in `post_json`.
    """
    return _request("GET", url, {"params": params, "headers": headers}, timeout=timeout, max_bytes=max_bytes)


def send_content(
    method: str,
    url: str,
    content: Mapping[str, Any],
    *,
    timeout: float,
    accepted: Container[int] = (200,),
    max_bytes: int = MAX_RESPONSE_BYTES,
) -> bytes:
    """Send a request whose body is not JSON, and return the response body if its status is accepted.

    `content` has arguments for `requests`, such as data, files, headers and auth. Timeout and errors as in `post_json`.
    """
    try:
        with (
            waiting(),
            thread_session().request(
                method, url, **content, **_environment(url), timeout=timeout, allow_redirects=False, stream=True
            ) as response,
        ):
            status = response.status_code
            body = read_response_body(response.raw, deadline=time.monotonic() + timeout, max_bytes=max_bytes)
            retry_after = response.headers.get("retry-after", "")
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        slow = isinstance(error, requests.ReadTimeout | urllib3.exceptions.ReadTimeoutError)
        # `from None`: the cause's text contains the URL, and a traceback would print it.
        raise (ResponseTimeoutError if slow else NoResponseError)(f"no response ({type(error).__name__})") from None
    if status not in accepted:
        raise_for_status(status, retry_after=retry_after, content=body)
    return body


def _request(method: str, url: str, content: Mapping[str, Any], *, timeout: float, max_bytes: int) -> Any:
    response_body = send_content(method, url, content, timeout=timeout, max_bytes=max_bytes)
    try:
        return parse_json_response(response_body)
    except orjson.JSONDecodeError as error:
        raise RetryableError("a response that is not JSON") from error


def raise_for_status(status: int, *, retry_after: str, content: bytes) -> None:
    """Raise the error for any HTTP status other than 200; `retry_after` is its Retry-After, `content` its body."""
    if status in (429, 503):
        raise RateLimitedError(status, retry_after=parse_retry_after(retry_after))
    if status in _GATEWAY_TIMED_OUT:
        raise ResponseTimeoutError(f"HTTP status {status}")
    if status >= 500:
        raise RetryableError(f"HTTP status {status}")
    if status != 200:
        raise HTTPStatusError(status, _parse_any(content))


def read_response_body(raw: urllib3.BaseHTTPResponse, *, deadline: float, max_bytes: int) -> bytes:
    """Read and decode a response body.

    Raises ResponseTooLargeError, ResponseTimeoutError once `time.monotonic` is past the deadline, and urllib3's
    errors.
    """
    content = bytearray()
    # `read1` returns available bytes. Reading in blocks would let a slow body block this thread for hours.
    while chunk := raw.read1(64 * 1024, decode_content=True):
        content += chunk
        if len(content) > max_bytes:
            raise ResponseTooLargeError(f"a response of more than {max_bytes} bytes")
        if time.monotonic() > deadline:
            raise ResponseTimeoutError("a response that takes too long")
    return bytes(content)


def parse_retry_after(text: str) -> float | None:
    """Parse a Retry-After header, a number of seconds or a date; None if it is neither."""
    if re.fullmatch(r"[0-9]+", text, re.ASCII):
        # Infinity, if the number has hundreds of digits.
        seconds = float(text)
    else:
        try:
            moment = email.utils.parsedate_to_datetime(text)
        except (ValueError, OverflowError):
            return None
        # A date without a zone is UTC, as all dates in HTTP are.
        seconds = ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds()
    return min(max(seconds, 0.0), MAX_RETRY_AFTER_SECONDS)


def parse_json_response(content: bytes) -> Any:
    """Parse JSON; a lone surrogate becomes U+FFFD. Raises orjson.JSONDecodeError."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return orjson.loads(_SURROGATES.sub(lambda match: match[1] or rb"\ufffd", content))


def _parse_any(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return None


# Untrusted JSON: a value of an unexpected type counts as absent.
Json = Any


def json_member(value: Json, name: str) -> Json:
    """Return an object's value under a name; None if it is absent, or the value is not an object."""
    return value.get(name) if isinstance(value, dict) else None


def json_list(value: Json) -> list[Json]:
    """Return a list; an empty one for any other type."""
    return value if isinstance(value, list) else []


def json_integer(value: Json, *, least: int, most: int) -> int | None:
    """Return an integer within bounds that was written without a fraction; None for anything else."""
    # A boolean is an int in Python.
    return value if type(value) is int and least <= value <= most else None
