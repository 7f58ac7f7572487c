"""API errors that views raise: class attributes hold status and text, `wait` sets Retry-After.

Besides these, `rest_framework.exceptions` has NotFound, NotAuthenticated, PermissionDenied, Throttled, ValidationError.
"""

from collections.abc import Mapping, Sequence

from rest_framework import status
from rest_framework.exceptions import APIException, ErrorDetail, PermissionDenied, Throttled


class BadRequestError(APIException):
    """400 with exactly this sentence; `field`, if set, is named in `details`."""

    status_code = status.HTTP_400_BAD_REQUEST
    default_detail = "Bad request"

    def __init__(self, detail: str | None = None, *, field: str | None = None) -> None:
        super().__init__(detail)
        self.field = field


class ConflictError(APIException):
    """409: a record with the same key exists, with other content."""

    status_code = status.HTTP_409_CONFLICT
    default_detail = "Conflict"


class FieldsForbiddenError(PermissionDenied):
    """403 for body fields that the caller is not allowed to set; `fields` holds the messages by path."""

    def __init__(self, detail: str, *, fields: Mapping[str, Sequence[str]]) -> None:
        super().__init__(detail)
        self.fields = fields


class NamedQuotaError(Throttled):
    """429 for a quota beside the rate limits, which its text names; `wait` is in seconds."""

    def __init__(self, text: str, *, wait: float) -> None:
        super().__init__(wait=wait)
        self.detail = ErrorDetail(text, self.default_code)


class PayloadTooLargeError(APIException):
    """413: the body exceeds the endpoint's size limit."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "Request body is too large"


class UpstreamError(APIException):
    """Upstream or dependency error; `wait` seconds become Retry-After."""

    wait: float | None = 5

    def __init__(self, detail: str | None = None, *, wait: float | None = None) -> None:
        super().__init__(detail)
        if wait is not None:
            self.wait = wait


class UpstreamFailedError(UpstreamError):
    """502: market data or a chain returned an error or is down, and there is no cached response."""

    status_code = status.HTTP_502_BAD_GATEWAY
    default_detail = "Upstream answered with an error"


class UpstreamUnavailableError(UpstreamError):
    """503: market data or a chain timed out or is not available, and there is no cached response."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = "Upstream is not available"


class ServiceUnavailableError(UpstreamError):
    """503: a dependency of this service does not respond."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = "Service is temporarily unavailable"


class SearchTimedOutError(ServiceUnavailableError):
    """503: a search exceeded its timeout."""

    default_detail = "Search timed out"


class InternalError(APIException):
    """500: a bug; its cause is not exposed."""

    default_detail = "Internal server error"
