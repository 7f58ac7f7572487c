"""Outbound JSON over HTTP: pooled connections, time-outs always, and two families of error by what to do next."""

import email.utils
import logging
import re
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
import requests
import urllib3
import urllib3.exceptions
from requests.adapters import HTTPAdapter

# An answer of an outside service is never read beyond this, whatever it claims.
MAX_ANSWER_BYTES = 64 * 1024 * 1024
# No provider is obeyed for longer when it asks for a pause.
MAX_RETRY_AFTER_SECONDS = 86_400.0

# 524 is Cloudflare's.
_GATEWAY_TIMED_OUT = (504, 524)

# Its debug lines hold the paths of requests, where providers put keys.
logging.getLogger("urllib3.connectionpool").setLevel(logging.INFO)

# Services write texts that were cut within an emoji with half of its two escapes, which orjson refuses with the whole
# answer. What is to stay is in the group: an escaped backslash, and escapes that belong together.
_SURROGATES = re.compile(
    rb"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)

_local = threading.local()


class Retryable(Exception):
    """Trying again later may help: time-outs, refused connections, 429, 5xx, answers cut short."""


class NoAnswer(Retryable):
    """Nobody answered, or not in time; every other error is one of an answer."""


class TimedOut(NoAnswer):
    """The answer, or the rest of it, did not come in time: to us, or to a gateway in between."""


class RateLimited(Retryable):
    """Status 429 or 503: the other side wants a pause; `retry_after` is its length in seconds, None where unsaid."""

    def __init__(self, status: int, *, retry_after: float | None) -> None:
        super().__init__(f"HTTP status {status}")
        self.status = status
        self.retry_after = retry_after


class WrongAnswer(Retryable):
    """JSON of another shape than the documented one; services are repaired."""


class Permanent(Exception):
    """Trying again gives the same result: the other side understood and refused."""


class AnswerTooLarge(Permanent):
    """The answer has more bytes than are read."""


class StatusRefused(Permanent):
    """Any other HTTP status than 200; `answer` is the parsed JSON body, None where it is no JSON."""

    def __init__(self, status: int, answer: Any) -> None:
        super().__init__(f"HTTP status {status}")
        self.status = status
        self.answer = answer


def session() -> requests.Session:
    """This thread's session; connections are kept open between calls."""
    if not hasattr(_local, "session"):
        _local.session = requests.Session()
        adapter = HTTPAdapter(pool_connections=16, pool_maxsize=16)
        _local.session.mount("http://", adapter)
        _local.session.mount("https://", adapter)
    existing: requests.Session = _local.session
    return existing


def post_json(url: str, body: Any, *, timeout: float, max_bytes: int = MAX_ANSWER_BYTES) -> Any:
    """POST a JSON body and return the parsed JSON answer.

    `timeout` is in seconds, for the connection, for the answer's head, and once more for its whole body. Raises
    Retryable or Permanent, of which AnswerTooLarge is for an answer of more than `max_bytes`; neither text holds the
    URL, which may carry a provider's key.
    """
    return _ask("POST", url, {"json": body}, timeout=timeout, max_bytes=max_bytes)


def get_json(
    url: str,
    *,
    timeout: float,
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    max_bytes: int = MAX_ANSWER_BYTES,
) -> Any:
    """GET the parsed JSON answer; `params` are added to the URL's query. Time-out and errors are those of `post_json`.

    Raises AnswerTooLarge for an answer of more than `max_bytes`.
    """
    return _ask("GET", url, {"params": params, "headers": headers}, timeout=timeout, max_bytes=max_bytes)


def _ask(method: str, url: str, content: Mapping[str, Any], *, timeout: float, max_bytes: int) -> Any:
    try:
        with session().request(method, url, **content, timeout=timeout, allow_redirects=False, stream=True) as response:
            status = response.status_code
            answer = read_body(response.raw, deadline=time.monotonic() + timeout, max_bytes=max_bytes)
            pause = response.headers.get("retry-after", "")
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        slow = isinstance(error, requests.ReadTimeout | urllib3.exceptions.ReadTimeoutError)
        # `from None`: the cause's text holds the URL, and a traceback would print it.
        raise (TimedOut if slow else NoAnswer)(f"no answer ({type(error).__name__})") from None
    check_status(status, pause=pause, content=answer)
    try:
        return parse_json(answer)
    except orjson.JSONDecodeError as error:
        raise Retryable("an answer that is not JSON") from error


def check_status(status: int, *, pause: str, content: bytes) -> None:
    """Raise what any other HTTP status than 200 means; `pause` is its Retry-After, `content` its body."""
    if status in (429, 503):
        raise RateLimited(status, retry_after=_read_pause(pause))
    if status in _GATEWAY_TIMED_OUT:
        raise TimedOut(f"HTTP status {status}")
    if status >= 500:
        raise Retryable(f"HTTP status {status}")
    if status != 200:
        raise StatusRefused(status, _parse_any(content))


def read_body(raw: urllib3.BaseHTTPResponse, *, deadline: float, max_bytes: int) -> bytes:
    """An answer's body, decoded. Raises AnswerTooLarge, TimedOut once `time.monotonic` is past the deadline,
    and urllib3's errors.
    """
    content = bytearray()
    # `read1` returns what has arrived. Reading in blocks would let a body that drips hold us for hours.
    while chunk := raw.read1(64 * 1024, decode_content=True):
        content += chunk
        if len(content) > max_bytes:
            raise AnswerTooLarge(f"an answer of more than {max_bytes} bytes")
        if time.monotonic() > deadline:
            raise TimedOut("an answer that takes too long")
    return bytes(content)


def _read_pause(text: str) -> float | None:
    """The seconds of a Retry-After header, which is a number of them or a date; None where it is neither."""
    if re.fullmatch(r"[0-9]{1,9}", text, re.ASCII):
        seconds = float(text)
    else:
        try:
            then = email.utils.parsedate_to_datetime(text)
        except (ValueError, OverflowError):
            return None
        # A date without a zone is UTC, as all dates of HTTP are.
        seconds = ((then if then.tzinfo else then.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds()
    return min(max(seconds, 0.0), MAX_RETRY_AFTER_SECONDS)


def parse_json(content: bytes) -> Any:
    """The JSON value, in which a lone surrogate has become U+FFFD. Raises orjson.JSONDecodeError."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return orjson.loads(_SURROGATES.sub(lambda found: found[1] or rb"\ufffd", content))


def _parse_any(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return None


# Parts of JSON that others wrote. Nothing of it is believed: what has another type than expected is not there.
Json = Any


def member(value: Json, name: str) -> Json:
    """What an object has under a name; None where it has nothing, or is none."""
    return value.get(name) if isinstance(value, dict) else None


def items(value: Json) -> list[Json]:
    """A list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def whole_number(value: Json, *, least: int, most: int) -> int | None:
    """A number within bounds that was written without a fraction; None for anything else."""
    # A boolean is an int to Python.
    return value if type(value) is int and least <= value <= most else None
