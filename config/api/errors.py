"""What a view raises to answer with an error: class attributes say status and text, `wait` gives Retry-After.

Besides these, `rest_framework.exceptions` has NotFound, NotAuthenticated, PermissionDenied, Throttled, ValidationError.
"""

from collections.abc import Mapping, Sequence

from rest_framework import status
from rest_framework.exceptions import APIException, PermissionDenied


class BadRequest(APIException):
    """400 with exactly this sentence; `field`, where given, is named in `details`."""

    status_code = status.HTTP_400_BAD_REQUEST
    default_detail = "Bad request"
    default_code = "bad_request"

    def __init__(self, detail: str | None = None, *, field: str | None = None) -> None:
        super().__init__(detail)
        self.field = field


class Conflict(APIException):
    """409: the same thing is already there with another content."""

    status_code = status.HTTP_409_CONFLICT
    default_detail = "Conflict"
    default_code = "conflict"


class NotAllowed(PermissionDenied):
    """403 with this sentence for what of the body the caller may not send: `fields` has the messages of each path."""

    def __init__(self, detail: str, *, fields: Mapping[str, Sequence[str]]) -> None:
        super().__init__(detail)
        self.fields = fields


class PayloadTooLarge(APIException):
    """413: the body is longer than this endpoint reads."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "Request body is too large"
    default_code = "payload_too_large"


class Upstream(APIException):
    """What a service that we asked did not give us; `wait` seconds become Retry-After."""

    wait: float | None = 5

    def __init__(self, detail: str | None = None, *, wait: float | None = None) -> None:
        super().__init__(detail)
        if wait is not None:
            self.wait = wait


class UpstreamFailed(Upstream):
    """502: market data or a chain answered wrongly, or is down, and there is no saved answer."""

    status_code = status.HTTP_502_BAD_GATEWAY
    default_detail = "Upstream answered with an error"
    default_code = "upstream_failed"


class UpstreamUnavailable(Upstream):
    """503: market data or a chain did not answer or can't be asked, and there is no saved answer."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = "Upstream is not available"
    default_code = "upstream_unavailable"


class Unavailable(Upstream):
    """503: a part of this service does not answer."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = "Service is temporarily unavailable"
    default_code = "unavailable"


class SearchTimedOut(Unavailable):
    """503: a search ran past its time limit."""

    default_detail = "Search timed out"
    default_code = "search_timed_out"


class InternalError(APIException):
    """500: our fault, and no business of the caller's what it was."""

    default_detail = "Internal server error"
    default_code = "internal_error"
