"""Outbound JSON over HTTP: pooled connections, time-outs always, and two families of error by what to do next."""

import threading
from typing import Any

import orjson
import requests
from requests.adapters import HTTPAdapter

# An answer of an outside service is never read beyond this, whatever it claims.
MAX_ANSWER_BYTES = 64 * 1024 * 1024

_local = threading.local()


class Retryable(Exception):
    """Trying again later may help: time-outs, refused connections, 429, 5xx, answers cut short."""


class Permanent(Exception):
    """Trying again gives the same result: the other side understood and refused."""


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

    `timeout` is in seconds, for the connection and between two reads. Raises Retryable or Permanent; neither text holds
    the URL, which may carry a provider's key.
    """
    try:
        with session().post(url, json=body, timeout=timeout, allow_redirects=False, stream=True) as response:
            status, content = response.status_code, _read(response)
    except requests.RequestException as error:
        raise Retryable(f"no answer ({type(error).__name__})") from error
    if status == 429 or status >= 500:
        raise Retryable(f"HTTP status {status}")
    if status != 200:
        raise Permanent(f"HTTP status {status}")
    return _parse(content)


def _read(response: requests.Response) -> bytes:
    content = bytearray()
    for chunk in response.iter_content(64 * 1024):
        content += chunk
        if len(content) > MAX_ANSWER_BYTES:
            raise Permanent(f"an answer of more than {MAX_ANSWER_BYTES} bytes")
    return bytes(content)


def _parse(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise Retryable("an answer that is not JSON") from error
