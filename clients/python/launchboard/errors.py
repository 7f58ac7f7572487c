"""Error responses, and the rules of which of them are worth another attempt."""

import json
from typing import Any

import urllib3

Json = dict[str, Any]

# No attempt is repeated if the service requests a longer wait, such as until a daily limit ends.
LONGEST_WAIT_SECONDS = 60
BUSY = (502, 503)
TOO_MANY = 429


class LaunchboardError(Exception):
    """An error response: its HTTP status and its body with `error` and, for invalid fields, `details`."""

    def __init__(self, status: int, body: Json, *, retry_after: int | None = None) -> None:
        super().__init__(f"{status}: {body.get('error', 'no error body')}")
        self.status = status
        self.body = body
        # In seconds; None if the response has no such header.
        self.retry_after = retry_after


def make_error(response: urllib3.BaseHTTPResponse) -> LaunchboardError:
    """Return the error of a response, whose body is read."""
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
