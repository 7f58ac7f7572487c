"""One error body for the whole API: `{"error": sentence}`, and `details` where a parameter or the body was refused.

Django REST framework hands every exception of an API view to `exception_handler`; `bad_request`, `forbidden`,
`page_not_found` and `server_error` are Django's handlers for what fails outside of such a view.
"""

import logging
import math
from collections.abc import Iterator, Mapping
from typing import Any

from django.core import exceptions as django_exceptions
from django.core.signals import got_request_exception
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
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
    BadRequest,
    InternalError,
    NotAllowed,
    PayloadTooLarge,
    Unavailable,
    UpstreamFailed,
    UpstreamUnavailable,
)
from config.api.rendering import render_json
from config.api.response_headers import NEVER_STORED
from config.http.json_client import Permanent, Retryable

logger = logging.getLogger(__name__)

# Where a refusal concerns no single parameter, `details` names the whole that was refused.
_WHOLE = {"GET": "query", "HEAD": "query", "DELETE": "query"}

# Paths whose callers are programs: no answer below them is ever a page.
_JSON_PATHS = ("/api/", "/healthz", "/readyz", "/metrics")


def exception_handler(exc: Exception, context: Mapping[str, Any]) -> Response:
    """Turn any exception of an API view into a response with the one error body.

    A view may have a method `extend_error(body) -> body` to add keys of its own to every error it answers with.
    """
    request, view = context.get("request"), context.get("view")
    error = _as_api_exception(exc)
    if isinstance(error, InternalError):
        _report(exc, request)
    elif error.status_code >= status.HTTP_500_INTERNAL_SERVER_ERROR:
        cause = exc.__cause__ or exc
        logger.warning("Answered %s on %r: %s: %s", error.status_code, _path(request), type(cause).__name__, cause)
    body = error_body(error, whole=_WHOLE.get(getattr(request, "method", ""), "body"))
    extend = getattr(view, "extend_error", None)
    set_rollback()
    return Response(body if extend is None else extend(body), status=error.status_code, headers=_headers(error))


def error_body(error: APIException, *, whole: str = "body") -> dict[str, Any]:
    """The body for an exception; `whole` is the name for a refusal that concerns no single field."""
    if isinstance(error, ValidationError):
        details = _details(error.detail, whole=whole) or [{"field": whole, "message": "is not valid"}]
        first = details[0]
        return {"error": _sentence(first["field"], first["message"], whole=whole), "details": details}
    body: dict[str, Any] = {"error": _text(error)}
    if isinstance(error, BadRequest) and error.field:
        body["details"] = [{"field": error.field, "message": body["error"]}]
    elif isinstance(error, NotAllowed):
        body["details"] = _details(error.fields, whole=whole)
    return body


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler400: a host that is not ours, a query with too many parameters, and the like."""
    if not _wants_json(request):
        return defaults.bad_request(request, exception)
    error = _as_api_exception(exception)
    return json_error(str(error.detail), status_code=error.status_code)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler403."""
    if not _wants_json(request):
        return defaults.permission_denied(request, exception)
    return json_error(str(PermissionDenied.default_detail), status_code=status.HTTP_403_FORBIDDEN)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler404."""
    if not _wants_json(request):
        return defaults.page_not_found(request, exception)
    return json_error("Not found", status_code=status.HTTP_404_NOT_FOUND)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500; the traceback is already in the log."""
    if not _wants_json(request):
        return defaults.server_error(request)
    return json_error(InternalError.default_detail, status_code=status.HTTP_500_INTERNAL_SERVER_ERROR)


def json_error(text: str, *, status_code: int) -> HttpResponse:
    """The one error body outside of an API view."""
    return HttpResponse(
        render_json({"error": text}),
        status=status_code,
        content_type="application/json",
        headers={"Cache-Control": NEVER_STORED},
    )


def _wants_json(request: HttpRequest) -> bool:
    return request.path_info.startswith(_JSON_PATHS)


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
            return PayloadTooLarge()
        case django_exceptions.SuspiciousOperation() | django_exceptions.BadRequest() | UnreadablePostError():
            return BadRequest()
        case Retryable():
            return UpstreamUnavailable()
        case Permanent():
            return UpstreamFailed()
        case OperationalError() | InterfaceError():
            return Unavailable()
    return InternalError()


def _report(exc: Exception, request: Any) -> None:
    logger.error("Unhandled error on %r", _path(request), exc_info=exc)
    # Whoever listens for failed requests (error trackers, Django's test client) must not miss those answered here.
    got_request_exception.send(sender=None, request=request)


def _path(request: Any) -> str:
    return str(getattr(request, "path", ""))


def _headers(error: APIException) -> dict[str, str]:
    headers = {"Cache-Control": NEVER_STORED}
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
    if isinstance(error, Throttled):
        return "Too many requests. Please try again later."
    if isinstance(error, (NotAuthenticated, AuthenticationFailed)):
        # The framework answers 403 where a view has no authenticator with a challenge; the contract says 401.
        error.status_code = status.HTTP_401_UNAUTHORIZED
        if error.detail == error.default_detail:
            return "Unauthorized"
    if isinstance(error, NotFound) and error.detail == error.default_detail:
        return "Not found"
    return next((message for _, message in _flatten(error.detail, path="")), str(error.default_detail))


def _details(detail: Any, *, whole: str) -> list[dict[str, str]]:
    return [{"field": path or whole, "message": message} for path, message in _flatten(detail, path="")]


def _flatten(detail: Any, *, path: str) -> Iterator[tuple[str, str]]:
    """(path, message) for each message of a nested detail: `rewards[1].allocation`, list items by their index."""
    if isinstance(detail, Mapping):
        for key, value in detail.items():
            yield from _flatten(value, path=_join(path, key))
    elif isinstance(detail, (list, tuple)):
        for index, value in enumerate(detail):
            nested = isinstance(value, (Mapping, list, tuple))
            yield from _flatten(value, path=_join(path, index) if nested else path)
    else:
        yield path, str(detail)


def _join(path: str, key: str | int) -> str:
    if isinstance(key, int):
        return f"{path}[{key}]"
    if key == api_settings.NON_FIELD_ERRORS_KEY or key == django_exceptions.NON_FIELD_ERRORS:
        return path
    return f"{path}.{key}" if path else str(key)


def _sentence(field: str, message: str, *, whole: str) -> str:
    if field == whole:
        return message
    text = message.rstrip(".")
    if text.startswith("This field "):
        return f"{field} {text.removeprefix('This field ')}"
    return f"{field} {text}" if text[:1].islower() else f"{field}: {text}"
