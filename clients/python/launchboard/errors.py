"""Error responses, and the rules of which of them are worth another attempt."""

import json
import logging
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import urllib3

Json = dict[str, Any]

# No attempt is repeated if the service requests a longer wait, such as until a daily limit ends.
LONGEST_WAIT_SECONDS = 60
_BUSY = (502, 503)
_TOO_MANY = 429
_HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT")
# Shorter waits are not logged.
_LOGGED_WAIT_SECONDS = 2
_log = logging.getLogger("launchboard")


class LaunchboardError(Exception):
    """An error response: its HTTP status and its body with `error` and, for invalid fields, `details`."""

    def __init__(self, status: int, body: Json, *, retry_after: float | None = None) -> None:
        super().__init__(f"{status}: {body.get('error', 'no error body')}")
        self.status = status
        self.body = body
        # In seconds; None without a usable header.
        self.retry_after = retry_after


def make_error(response: urllib3.BaseHTTPResponse) -> LaunchboardError:
    """Return the error of a response that is read."""
    try:
        body = json.loads(response.data)
    except ValueError:
        # Of a proxy in front of the service.
        body = {}
    return LaunchboardError(
        response.status,
        body if isinstance(body, dict) else {},
        retry_after=_requested_wait(response.headers),
    )


def _requested_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of Retry-After; None without it, and for a past date or another value."""
    text = headers.get("Retry-After", "")
    if re.fullmatch("[0-9]+", text):
        # Infinity, if the number has hundreds of digits.
        return float(text)
    try:
        seconds = parsedate_to_datetime(text).timestamp() - time.time() if _HTTP_DATE.fullmatch(text) else 0
    except ValueError:
        return None
    return seconds if seconds > 0 else None


def is_retryable(status: int, requested: float | None, *, may_repeat: bool) -> bool:
    """Return whether to repeat a call: one over its rate limit was refused before any effect."""
    is_busy = status == _TOO_MANY or (may_repeat and status in _BUSY)
    return is_busy and (requested or 0) <= LONGEST_WAIT_SECONDS


def log_wait(reason: str, seconds: float) -> None:
    """Log a long wait before the next attempt."""
    if seconds >= _LOGGED_WAIT_SECONDS:
        _log.info("%s: the next attempt is in %.0f s", reason, seconds)
