"""Outbound JSON over HTTP: pooled connections, time-outs always, and two families of error by what to do next."""

import logging
import threading
import time
from typing import Any

import orjson
import requests
import urllib3.exceptions
from requests.adapters import HTTPAdapter

# An answer of an outside service is never read beyond this, whatever it claims.
MAX_ANSWER_BYTES = 64 * 1024 * 1024

# Its debug lines hold the paths of requests, where providers put keys.
logging.getLogger("urllib3.connectionpool").setLevel(logging.INFO)

_local = threading.local()


class Retryable(Exception):
    """Trying again later may help: time-outs, refused connections, 429, 5xx, answers cut short."""


class Permanent(Exception):
    """Trying again gives the same result: the other side understood and refused."""


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


def post_json(url: str, body: Any, *, timeout: float) -> Any:
    """POST a JSON body and return the parsed JSON answer.

    `timeout` is in seconds, for the connection, for the answer's head, and once more for its whole body. Raises
    Retryable or Permanent; neither text holds the URL, which may carry a provider's key.
    """
    try:
        with session().post(url, json=body, timeout=timeout, allow_redirects=False, stream=True) as response:
            status, content = response.status_code, _read(response, deadline=time.monotonic() + timeout)
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        # `from None`: the cause's text holds the URL, and a traceback would print it.
        raise Retryable(f"no answer ({type(error).__name__})") from None
    if status == 429 or status >= 500:
        raise Retryable(f"HTTP status {status}")
    if status != 200:
        raise StatusRefused(status, _parse_any(content))
    return _parse(content)


def _read(response: requests.Response, *, deadline: float) -> bytes:
    content = bytearray()
    # `read1` returns what has arrived. Reading in blocks would let a body that drips hold us for hours.
    while chunk := response.raw.read1(64 * 1024, decode_content=True):
        content += chunk
        if len(content) > MAX_ANSWER_BYTES:
            raise Permanent(f"an answer of more than {MAX_ANSWER_BYTES} bytes")
        if time.monotonic() > deadline:
            raise Retryable("an answer that takes too long")
    return bytes(content)


def _parse(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise Retryable("an answer that is not JSON") from error


def _parse_any(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
