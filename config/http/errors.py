"""Outbound request errors, in two families: retryable and permanent."""

from typing import Any


class RetryableError(Exception):
    """Temporary error: timeouts, refused connections, 429, 5xx, truncated responses."""


class NoResponseError(RetryableError):
    """No response, or not in time; every other error has a response."""


class ResponseTimeoutError(NoResponseError):
    """Response or body timeout, here or at a gateway."""


class RateLimitedError(RetryableError):
    """Status 429 or 503; `retry_after` is in seconds, None if the header is absent."""

    def __init__(self, status: int, *, retry_after: float | None) -> None:
        super().__init__(f"HTTP status {status}")
        self.status = status
        self.retry_after = retry_after


class InvalidResponseError(RetryableError):
    """JSON that does not match the documented schema; retryable, because services are repaired."""


class PermanentError(Exception):
    """Permanent error: the service understood and rejected the request, so a retry gives the same result."""


class ResponseTooLargeError(PermanentError):
    """Response body beyond the size limit."""


class HTTPStatusError(PermanentError):
    """Any other HTTP status than 200; `answer` is the parsed JSON body, None if it is not JSON."""

    def __init__(self, status: int, answer: Any) -> None:
        super().__init__(f"HTTP status {status}")
        self.status = status
        self.answer = answer
