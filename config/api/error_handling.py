"""Error responses: one body `{"error": sentence}` for the whole API.

`details` lists the invalid parameters or body fields.

Django REST framework passes every exception in an API view to `exception_handler`. `bad_request`, `forbidden`,
`page_not_found` and `server_error` are Django's handlers for errors outside such a view.
"""

import logging
import math
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from django.core import exceptions as django_exceptions
from django.core.signals import got_request_exception
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, UnreadablePostError
from django.views import defaults
from rest_framework import status
from rest_framework.exceptions import (
    APIException,
    AuthenticationFailed,
    NotAuthenticated,
    NotFound,
    PermissionDenied,
    Throttled,
    ValidationError,
)
from rest_framework.fields import get_error_detail
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import set_rollback

from config.api.errors import (
    BadRequestError,
    FieldsForbiddenError,
    InternalError,
    NamedQuotaError,
    PayloadTooLargeError,
    ServiceUnavailableError,
    UpstreamFailedError,
    UpstreamUnavailableError,
)
from config.api.rendering import render_json
from config.http.errors import PermanentError, RetryableError
from config.parsing.json_rules import truncate_problems
from config.processes.concurrency_limits import BusyError
from config.site.error_pages import error_page
from config.site.page_limits import refuse_page
from config.web.response_headers import NO_STORE
from config.web.routing import is_json_path

logger = logging.getLogger(__name__)

# If an error concerns no single parameter, `details` names the query or the body.
_WHOLE = {"GET": "query", "HEAD": "query", "DELETE": "query"}

# Seconds until this process is likely to have a free slot.
_BUSY_SECONDS = 1
# Characters in one message: some framework messages repeat the refused value.
_MAX_MESSAGE = 1_000


def exception_handler(exc: Exception, context: Mapping[str, Any]) -> Response:
    """Convert an API view's exception into a response with the error body.

    A view may have a method `extend_error(body) -> body` that adds keys to its error bodies.
    """
    request, view = context.get("request"), context.get("view")
    error = _as_api_exception(exc)
    if isinstance(error, InternalError):
        _report(exc, request)
    elif error.status_code >= status.HTTP_500_INTERNAL_SERVER_ERROR:
        cause = exc.__cause__ or exc
        logger.warning("Returned %s on %r: %s: %s", error.status_code, _path(request), type(cause).__name__, cause)
    body = error_body(error, whole=_WHOLE.get(getattr(request, "method", ""), "body"))
    extend = getattr(view, "extend_error", None)
    set_rollback()
    return Response(body if extend is None else extend(body), status=error.status_code, headers=_headers(error))


def error_body(error: APIException, *, whole: str = "body") -> dict[str, Any]:
    """Return the body for an exception; `whole` is the field name for an error that concerns no single field."""
    if isinstance(error, ValidationError):
        details = _details(error.detail, whole=whole) or [{"field": whole, "message": "is not valid"}]
        path, message = next(_flatten(error.detail, path=""), ("", details[0]["message"]))
        return {"error": _sentence(path, message), "details": details}
    body: dict[str, Any] = {"error": _text(error)}
    if isinstance(error, BadRequestError) and error.field:
        body["details"] = [{"field": error.field, "message": _rule(error.field, body["error"])}]
    elif isinstance(error, FieldsForbiddenError):
        body["details"] = _details(error.fields, whole=whole)
    return body


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle 400 for Django: an unknown host, a query with too many parameters, and similar."""
    error = _as_api_exception(exception)
    if not is_json_path(request.path_info):
        return error_page(request, error.status_code)
    return json_error(str(error.detail), status_code=error.status_code)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle 403 for Django."""
    if not is_json_path(request.path_info):
        return error_page(request, status.HTTP_403_FORBIDDEN)
    return json_error(str(PermissionDenied.default_detail), status_code=status.HTTP_403_FORBIDDEN)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Handle a form without a valid token for Django: public pages take no form, so the method is the reason."""
    if request.path_info.startswith("/admin/"):
        return error_page(request, status.HTTP_403_FORBIDDEN, is_form=True)
    return HttpResponseNotAllowed(["GET", "HEAD"])


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle 404 for Django; a path without a view counts as a page, as most views are pages."""
    if not is_json_path(request.path_info):
        refusal = refuse_page(request) if request.resolver_match is None else None
        return refusal or defaults.page_not_found(request, exception)
    return json_error("Not found", status_code=status.HTTP_404_NOT_FOUND)


def server_error(request: HttpRequest) -> HttpResponse:
    """Handle exceptions for Django: 503 for an outage, such as a database outage, 500 for a bug.

    Django logs the traceback.
    """
    # Django calls this while it handles the exception.
    exception = sys.exception()
    error = _as_api_exception(exception) if isinstance(exception, Exception) else InternalError()
    if not isinstance(error, ServiceUnavailableError):
        error = InternalError()
    if is_json_path(request.path_info):
        response = json_error(str(error.detail), status_code=error.status_code)
    else:
        response = defaults.server_error(request)
        response.status_code = error.status_code
    for name, value in _headers(error).items():
        response[name] = value
    return response


def json_error(text: str, *, status_code: int) -> HttpResponse:
    """Return a response with the error body, outside an API view."""
    return HttpResponse(
        render_json({"error": text}),
        status=status_code,
        content_type="application/json",
        headers={"Cache-Control": NO_STORE},
    )


def _as_api_exception(exc: Exception) -> APIException:
    match exc:
        case APIException():
            return exc
        case Http404():
            return NotFound("Not found")
        case django_exceptions.PermissionDenied():
            return PermissionDenied()
        case django_exceptions.ValidationError():
            return ValidationError(get_error_detail(exc))
        case django_exceptions.RequestDataTooBig():
            return PayloadTooLargeError()
        case django_exceptions.SuspiciousOperation() | django_exceptions.BadRequest() | UnreadablePostError():
            return BadRequestError()
        case BusyError():
            return ServiceUnavailableError(str(exc), wait=_BUSY_SECONDS)
        case RetryableError():
            return UpstreamUnavailableError()
        case PermanentError():
            return UpstreamFailedError()
        case OperationalError() | InterfaceError():
            return ServiceUnavailableError()
    return InternalError()


def _report(exc: Exception, request: Any) -> None:
    logger.error("Unhandled error on %r", _path(request), exc_info=exc)
    # Receivers of this signal (error trackers, Django's test client) must see the failures that are handled here.
    got_request_exception.send(sender=None, request=request)


def _path(request: Any) -> str:
    return str(getattr(request, "path", ""))


def _headers(error: APIException) -> dict[str, str]:
    headers = {"Cache-Control": NO_STORE}
    if error.status_code == status.HTTP_401_UNAUTHORIZED:
        # RFC 9110, 11.6.1: a 401 must carry a challenge.
        headers["WWW-Authenticate"] = getattr(error, "auth_header", None) or "Bearer"
    wait = getattr(error, "wait", None)
    if wait is None and isinstance(error, Throttled):
        wait = 1
    if wait is not None:
        headers["Retry-After"] = str(max(1, math.ceil(wait)))
    return headers


def _text(error: APIException) -> str:
    if isinstance(error, Throttled) and not isinstance(error, NamedQuotaError):
        return "Too many requests. Please try again later."
    if isinstance(error, (NotAuthenticated, AuthenticationFailed)):
        # The framework returns 403 if a view has no authenticator with a challenge; the contract requires 401.
        error.status_code = status.HTTP_401_UNAUTHORIZED
        if error.detail == error.default_detail:
            return "Unauthorized"
    if isinstance(error, NotFound) and error.detail == error.default_detail:
        return "Not found"
    return next((message for _, message in _flatten(error.detail, path="")), str(error.default_detail))


def _details(detail: Any, *, whole: str) -> list[dict[str, str]]:
    """Return the entries for `details`, at most MAX_REPORTED: a body can break rules in thousands of places."""
    problems = truncate_problems(list(_flatten(detail, path="")))
    return [{"field": path or whole, "message": _rule(path, message)} for path, message in problems]


def _flatten(detail: Any, *, path: str) -> Iterator[tuple[str, str]]:
    """Yield (path, message) for each message in a nested detail; a path is such as `rewards[1].allocation`."""
    if isinstance(detail, Mapping):
        for key, value in detail.items():
            yield from _flatten(value, path=_join(path, key))
    elif isinstance(detail, (list, tuple)):
        for index, value in enumerate(detail):
            nested = isinstance(value, (Mapping, list, tuple))
            yield from _flatten(value, path=_join(path, index) if nested else path)
    else:
        yield path, str(detail)[:_MAX_MESSAGE]


def _join(path: str, key: str | int) -> str:
    if isinstance(key, int):
        return f"{path}[{key}]"
    if key == api_settings.NON_FIELD_ERRORS_KEY or key == django_exceptions.NON_FIELD_ERRORS:
        return path
    return f"{path}.{key}" if path else str(key)


def _rule(field: str, message: str) -> str:
    """Return the message without the field's name at its start: `details` has it beside the message."""
    return message.removeprefix(f"{field} ") if field else message


def _sentence(field: str, message: str) -> str:
    # A parameter may have the whole's name, such as `query`.
    if not field:
        return message
    text = _rule(field, message).rstrip(".")
    if text.startswith("This field "):
        return f"{field} {text.removeprefix('This field ')}"
    return f"{field} {text}" if text[:1].islower() else f"{field}: {text}"
