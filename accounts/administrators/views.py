"""Endpoint for administrator sessions in a browser."""

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, Throttled
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from accounts.administrators import sessions
from accounts.administrators.responses import EndAnswer, SessionAnswer
from accounts.administrators.serializers import PasswordBody
from accounts.authentication import UNAUTHORIZED, OptionalUserAuthentication
from accounts.operators.login_limits import TooManyAttemptsError
from accounts.users.identity import VerifiedIdentity
from config.api.throttling import AdminVerifyLimit
from config.api.views import LimitedView
from config.web.body_limits import SMALL_BODY_BYTES
from config.web.response_headers import NO_STORE

# Only the API gets the cookie; pages and the admin site never do.
_COOKIE_PATH = "/api/"
# Expiry of a cookie that the browser is to delete.
_PAST = datetime(1970, 1, 1, tzinfo=UTC)


class AdminVerifyView(LimitedView):
    """Start and end of an administrator session.

    A wrong name, password or code, a locked or unknown account and a token without administrator rights get the
    same 401.
    """

    authentication_classes = [OptionalUserAuthentication]
    permission_classes = [AllowAny]
    max_body_bytes = SMALL_BODY_BYTES
    security_by_method = {"DELETE": [{"adminSession": []}]}

    def get_throttles(self) -> list[BaseThrottle]:
        """Add the limit on log-in attempts, which also counts rejected tokens."""
        attempt_limits = [AdminVerifyLimit()] if self.request.method == "POST" else []
        return [*super().get_throttles(), *attempt_limits]

    @extend_schema(operation_id="beginAdminSession", request=PasswordBody, responses={200: SessionAnswer, 401: None})
    def post(self, request: Request) -> Response:
        """Start an administrator session. Its cookie `admin_session` grants read access to administrators' fields.

        Send the name and password of a staff account (and `code`, if it has a second factor), or an
        administrator's token in the Authorization header; then no body is read. 429 if your address has made too many
        attempts, whatever the names; 503 while other passwords are checked.
        """
        session = sessions.begin_session(_holder(request))
        response = Response(SessionAnswer(success=True, expiresAt=session.expires_at))
        _set_cookie(response, session.cookie, expires=session.expires_at)
        return response

    @extend_schema(operation_id="endAdminSession", request=None, responses={200: EndAnswer, 401: None})
    def delete(self, request: Request) -> Response:
        """End the session of the cookie. Without a valid session the response is 401."""
        session = sessions.find_session(request._request)
        if session is None or not sessions.revoke_session(session):
            raise NotAuthenticated(UNAUTHORIZED)
        return Response(EndAnswer(success=True))

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Forbid caching, and delete the cookie if its session has ended or does not exist.

        If the request was rejected for an invalid token, a valid session's cookie stays: the session has not ended.
        """
        response = super().finalize_response(request, response, *args, **kwargs)
        response["Cache-Control"] = NO_STORE
        is_handled = request.method == "DELETE" and response.status_code in (200, 401)
        if is_handled and sessions.find_session(request._request) is None:
            _set_cookie(response, "", expires=_PAST)
        return response


def _set_cookie(response: Response, value: str, *, expires: datetime) -> None:
    response.set_cookie(
        sessions.COOKIE,
        value,
        expires=expires,
        path=_COOKIE_PATH,
        secure=not settings.DEBUG,
        httponly=True,
        samesite="Lax",
    )


def _holder(request: Request) -> Any:
    """Return the account or administrator that the request proves.

    Raises AuthenticationFailed, Throttled and ValidationError.
    """
    if isinstance(request.auth, VerifiedIdentity):
        holder: Any = sessions.find_administrator(request.auth)
    else:
        body = PasswordBody(data=request.data)
        body.is_valid(raise_exception=True)
        try:
            holder = sessions.authenticate_staff(request._request, **body.validated_data)
        except TooManyAttemptsError as error:
            raise Throttled(wait=error.seconds) from error
    if holder is None:
        raise AuthenticationFailed(UNAUTHORIZED)
    return holder
